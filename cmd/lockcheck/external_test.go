package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	zkclient "github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
)

// theSecret is the password of servers that lockcheck has not started. No file may have it.
const theSecret = "correct-horse-battery"

// mark begins the names of everything that a run writes to servers that are not its own.
const mark = "lockcheck-run-"

// onYours runs the command on servers that it has not started. Whatever it finds, it must
// have found out something, without the secret in its outputs or files.
func onYours(t *testing.T, path, promise string, args ...string) result {
	t.Helper()
	out := t.TempDir()
	r := command(t, path, append(args, "--on", "external", "--clients", "3", "--acquires", "4", "--promise", promise, "--out", out)...)
	if r.code != held && r.code != unproven || !strings.Contains(r.stdout, "the lock was granted") {
		t.Errorf("%q: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
	}
	noSecret(t, out, r)
	return r
}

// words returns the arguments of a subcommand.
func words(command string, servers []string, rest ...string) []string {
	return slices.Concat([]string{command}, servers, rest)
}

// noSecret fails the test if the secret is in an output, or in a file below a directory.
func noSecret(t *testing.T, out string, r result) {
	t.Helper()
	if strings.Contains(r.stdout+r.stderr, theSecret) {
		t.Errorf("the secret is printed:\n%s%s", r.stdout, r.stderr)
	}
	files := 0
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(theSecret)) {
			t.Errorf("the secret is in %s", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files (%v)", files, err)
	}
}

// certificate makes a certificate for a name, and its key, in PEM.
func certificate(t *testing.T, name string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	made, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, b []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	return encode("CERTIFICATE", made), encode("PRIVATE KEY", private)
}

// A Redis server with TLS and a password. Links connect to it with its own name, and prove
// who asks, so the worker knows nothing of both.
func TestYourRedis(t *testing.T) {
	lockcheck := binary(t)
	dockertest.Module(t, "redis")
	cert, key := certificate(t, "redis.test")
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, cert)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(cert))
	m := dockertest.Group(t, 1)[0]
	db := goredis.NewClient(&goredis.Options{Addr: m.Addr, Password: theSecret, DB: 3, TLSConfig: &tls.Config{ServerName: "redis.test", RootCAs: roots}})
	defer db.Close()
	script := "cat >/data/cert <<'end'\n" + cert + "end\ncat >/data/key <<'end'\n" + key + "end\n" +
		"exec redis-server --port 0 --tls-port 6379 --bind 0.0.0.0 --tls-cert-file /data/cert --tls-key-file /data/key" +
		" --tls-auth-clients no --save '' --requirepass " + theSecret
	if err := m.StartBy(t.Context(), script, func() error { return db.Ping(t.Context()).Err() }); err != nil {
		t.Fatal(err)
	}
	keys := func() (list []string) {
		for n := range 4 {
			c := db.Conn()
			defer c.Close()
			c.Select(t.Context(), n)
			found, err := c.Keys(t.Context(), "*").Result()
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, found...)
		}
		return list
	}
	db.Set(t.Context(), "yours", "1", 0)
	worker := dockertest.Python + " " + absolute(t, "../../examples/workers/libraries/redis_py.py")
	t.Setenv("THE_REDIS", theSecret)
	servers := []string{"--redis", m.Addr, "--tls", "--tls-name", "redis.test", "--tls-ca", ca, "--password", "env:THE_REDIS"}

	for _, fault := range []string{"pause", "partition", "drop-reply", "kill-connection"} {
		onYours(t, lockcheck, "liveness", words("run", servers, "--worker", worker, "--fault", fault)...)
	}
	onYours(t, lockcheck, "liveness", words("run", servers, "redis-set-lua", "--fault", "skew")...)
	if left := keys(); !slices.Equal(left, []string{"yours"}) {
		t.Errorf("the keys are %q", left)
	}

	// The last line of a result repeats the run as it is printed.
	r := onYours(t, lockcheck, "liveness", words("run", servers, "--worker", worker, "--fault", "pause", "--keep", "all")...)
	_, again, _ := strings.Cut(r.stdout, "Again    ")
	again, _, _ = strings.Cut(again, "\nPage ")
	if out, err := exec.Command("sh", "-c", again+" --out "+t.TempDir()).CombinedOutput(); !strings.Contains(string(out), "The same schedule, on external") {
		t.Errorf("%s\n%v\n%s", again, err, out)
	}

	for says, wrong := range map[string][]string{
		"WRONGPASS":   {"--redis", m.Addr, "--tls", "--tls-name", "redis.test", "--tls-ca", ca, "--password", "file:" + ca},
		"certificate": {"--redis", m.Addr, "--tls", "--tls-ca", ca, "--password", "env:THE_REDIS"},
	} {
		r := command(t, lockcheck, words("run", wrong, "--worker", worker, "--on", "external", "--out", t.TempDir())...)
		if r.code != unavailable || !strings.Contains(r.stdout+r.stderr, says) {
			t.Errorf("%s: exit code %d\n%s%s", says, r.code, r.stdout, r.stderr)
		}
	}

	long := words("run", servers, "--worker", worker, "--on", "external", "--fault", "pause", "--acquires", "1000")
	cmd := start(t, lockcheck, t.TempDir(), long...)
	cmd.Process.Signal(os.Interrupt)
	if <-cmd.ended; cmd.ProcessState.ExitCode() != interrupted || len(keys()) != 1 {
		t.Errorf("after Ctrl-C: exit code %d, keys %q", cmd.ProcessState.ExitCode(), keys())
	}

	// A worker of a killed command ends with it. Its key stays for its lease: the test
	// makes one that stays longer.
	cmd = start(t, lockcheck, t.TempDir(), long...)
	cmd.Process.Kill()
	<-cmd.ended
	db.Set(t.Context(), mark+"0123456789ab-a", "1", 0)
	if r := onYours(t, lockcheck, "liveness", words("run", servers, "--worker", worker, "--fault", "none")...); !strings.Contains(r.stderr, "of other runs, such as "+mark) || len(keys()) < 2 {
		t.Errorf("the next run: keys %q\n%s", keys(), r.stderr)
	}
	r = command(t, lockcheck, words("clean", servers)...)
	if r.code != held || !strings.Contains(r.stdout, "removed "+mark+"0123456789ab-a") || len(keys()) != 1 {
		t.Errorf("clean: exit code %d, keys %q\n%s%s", r.code, keys(), r.stdout, r.stderr)
	}
}

// absolute returns the absolute path of a file.
func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Sentinels name the servers, by addresses that are not those of this machine.
func TestYourSentinels(t *testing.T) {
	lockcheck := binary(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := dockertest.Group(t, 3)
	master, replica, watcher := m[0], m[1], m[2]
	script := "cat >/data/conf <<'end'\nport 6379\nbind 0.0.0.0\nprotected-mode no\nsentinel monitor mymaster " + master.Host + " 6379 1\nend\nexec redis-server /data/conf --sentinel"
	err = errors.Join(
		master.Start(t.Context()), replica.Start(t.Context(), "--replicaof", master.Host, "6379"),
		watcher.StartBy(t.Context(), script, func() error {
			said, err := watcher.Do("SENTINEL", "REPLICAS", "mymaster")
			if err == nil && !strings.Contains(said, replica.Host) {
				err = errors.New("the Sentinel does not know the replica yet")
			}
			return err
		}))
	if err != nil {
		t.Fatal(err)
	}
	worker := self + " " + storeWorker + " redis-set-lua"
	servers := []string{"--sentinel", "mymaster@" + watcher.Addr}
	r := command(t, lockcheck, words("run", servers, "--worker", worker, "--on", "external", "--out", t.TempDir())...)
	if r.code != usage || !strings.Contains(r.stderr, master.Host+":6379 is not on this machine") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	servers = append(servers, "--i-own-these-servers")
	onYours(t, lockcheck, "liveness", words("run", servers, "--worker", worker, "--fault", "partition")...)
	if said, err := master.Do("KEYS", "*"); err != nil || said != "*0\r\n" {
		t.Errorf("the keys are %q (%v)", said, err)
	}
}

// An ensemble of ZooKeeper. Everything is below a node of the run, whatever the library.
func TestYourZooKeeper(t *testing.T) {
	lockcheck := binary(t)
	dockertest.Module(t, "kazoo")
	var addrs []string
	for _, s := range dockertest.ZooKeeper(t).Servers {
		addrs = append(addrs, s.Addr)
	}
	port := zookeeper.Port{Transport: zkclient.New(zkclient.Options{Addrs: addrs})}
	h, err := port.Open(t.Context(), 10*time.Second, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.Background(), time.Second)
	if _, err := h.Create(t.Context(), time.Second, "/yours", "", 0); err != nil {
		t.Fatal(err)
	}
	names := func() []string {
		list, err := h.GetChildren(t.Context(), time.Second, "/", false)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(list)
		return list
	}
	worker := dockertest.Python + " " + absolute(t, "../../examples/workers/libraries/kazoo_lock.py")
	servers := []string{"--zookeeper", strings.Join(addrs, ",")}
	for _, fault := range []string{"pause", "kill", "drop-reply"} {
		onYours(t, lockcheck, "liveness", words("run", servers, "--worker", worker, "--fault", fault)...)
	}
	onYours(t, lockcheck, "liveness", "run", "zk-recipe", "--zookeeper", addrs[0], "--fault", "partition")
	if left := names(); !slices.Equal(left, []string{"yours", "zookeeper"}) {
		t.Errorf("the nodes are %q", left)
	}

	if _, err := h.Create(t.Context(), time.Second, "/"+mark+"0123456789ab", "", 0); err != nil {
		t.Fatal(err)
	}
	r := command(t, lockcheck, words("clean", servers)...)
	if r.code != held || !strings.Contains(r.stdout, "removed /"+mark+"0123456789ab") || len(names()) != 2 {
		t.Errorf("clean: exit code %d, nodes %q\n%s%s", r.code, names(), r.stdout, r.stderr)
	}
}

// A MariaDB with TLS and a password, which the worker learns from its environment. The rows
// of the run are removed; others in the same table stay, and new ones are named.
func TestYourMySQL(t *testing.T) {
	lockcheck := binary(t)
	dockertest.Module(t, "pymysql")
	cert, key := certificate(t, "mysql.test")
	ca, secret := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "password")
	write(t, ca, cert)
	write(t, secret, theSecret+"\n")
	s := dockertest.MySQL(t)
	admin, err := s.Admin()
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	execute := func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	execute("SELECT '" + cert + "' INTO DUMPFILE '/data/mysql/cert'")
	execute("SELECT '" + key + "' INTO DUMPFILE '/data/mysql/key'")
	if err := errors.Join(s.Kill(t.Context()), s.Start(t.Context(), "--ssl-cert=/data/mysql/cert", "--ssl-key=/data/mysql/key")); err != nil {
		t.Fatal(err)
	}
	execute("CREATE USER me@'%' IDENTIFIED BY '" + theSecret + "' REQUIRE SSL")
	execute("GRANT ALL ON lockcheck.* TO me@'%'")
	execute("CREATE TABLE orders (name VARCHAR(100) PRIMARY KEY, holder VARCHAR(100))")
	execute("INSERT INTO orders VALUES ('yours', NULL)")
	worker := dockertest.Python + " " + absolute(t, "testdata/mysqlrows.py")
	servers := []string{"--mysql", "me@tcp(" + s.Addr + ")/lockcheck", "--password", "file:" + secret, "--tls", "--tls-name", "mysql.test", "--tls-ca", ca}
	for _, fault := range []string{"pause", "delay", "drop-reply", "kill-connection"} {
		onYours(t, lockcheck, "exclusion", words("run", servers, "--worker", worker, "--fault", fault)...)
	}
	var name string
	if err := admin.QueryRowContext(t.Context(), "SELECT GROUP_CONCAT(name) FROM orders").Scan(&name); err != nil || name != "yours" {
		t.Errorf("the rows are %q (%v)", name, err)
	}

	execute("INSERT INTO orders VALUES ('" + mark + "0123456789ab-a', NULL)")
	if r := onYours(t, lockcheck, "exclusion", words("run", servers, "--worker", worker, "--fault", "none")...); !strings.Contains(r.stderr, `orders.name = "`+mark+`0123456789ab-a"`) {
		t.Errorf("the next run: %s", r.stderr)
	}
}
