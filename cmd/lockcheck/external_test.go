package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
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
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
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

// identity is a client's certificate.
type identity struct {
	text  string // of the certificate, for the server to trust
	ca    string // the file with the server's certificate
	flags []string
}

// clientFlags makes a client's certificate, and returns it with the flags for a server of
// that name and certificate. settings are the same for a client of the test.
func clientFlags(t *testing.T, server, cert string) (c identity, settings *tls.Config) {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	own, key := certificate(t, "client.test")
	write(t, file("ca.pem"), cert)
	write(t, file("own.pem"), own)
	write(t, file("own.key"), key)
	pair, err := tls.X509KeyPair([]byte(own), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(cert))
	c = identity{own, file("ca.pem"), []string{
		"--tls", "--tls-name", server, "--tls-ca", file("ca.pem"), "--tls-cert", file("own.pem"), "--tls-key", file("own.key"),
	}}
	return c, &tls.Config{ServerName: server, RootCAs: roots, Certificates: []tls.Certificate{pair}}
}

// place returns a script that writes a file in a server's directory.
func place(name, text string) string { return "cat >/data/" + name + " <<'end'\n" + text + "end\n" }

// A Redis server with TLS, certificates of its clients and a password. Links connect to it
// with its own name, and prove who asks, so the worker knows nothing of all that.
func TestYourRedis(t *testing.T) {
	lockcheck := binary(t)
	dockertest.Module(t, "redis")
	cert, key := certificate(t, "redis.test")
	ours, settings := clientFlags(t, "redis.test", cert)
	m := dockertest.Group(t, 1)[0]
	db := goredis.NewClient(&goredis.Options{Addr: m.Addr, Password: theSecret, DB: 3, TLSConfig: settings})
	defer db.Close()
	script := place("cert", cert) + place("key", key) + place("ca", ours.text) +
		"exec redis-server --port 0 --tls-port 6379 --bind 0.0.0.0 --tls-cert-file /data/cert --tls-key-file /data/key" +
		" --tls-auth-clients yes --tls-ca-cert-file /data/ca --save '' --requirepass " + theSecret
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
	servers := append([]string{"--redis", m.Addr, "--password", "env:THE_REDIS"}, ours.flags...)

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
		"WRONGPASS":            append([]string{"--redis", m.Addr, "--password", "file:" + ours.ca}, ours.flags...),
		"certificate required": {"--redis", m.Addr, "--tls", "--tls-name", "redis.test", "--tls-ca", ours.ca, "--password", "env:THE_REDIS"},
		"certificate":          {"--redis", m.Addr, "--tls", "--tls-ca", ours.ca, "--password", "env:THE_REDIS"},
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

// Five Redis servers, for Redlock. A minority of them may be out of reach.
func TestYourFiveServers(t *testing.T) {
	t.Parallel()
	lockcheck := binary(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	group := dockertest.Group(t, 5)
	var addrs []string
	for _, m := range group {
		if err := m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, m.Addr)
	}
	servers := []string{"--redis", strings.Join(addrs, ",")}
	worker := self + " " + storeWorker + " redlock"
	onYours(t, lockcheck, "liveness", words("run", servers, "--worker", worker, "--fault", "partition")...)
	onYours(t, lockcheck, "liveness", words("run", servers, "redlock", "--fault", "drop-reply")...)
	for _, m := range group {
		if said, err := m.Do("KEYS", "*"); err != nil || said != "*0\r\n" {
			t.Errorf("the keys are %q (%v)", said, err)
		}
		if said, err := m.Do("INFO", "commandstats"); err != nil || !strings.Contains(said, "cmdstat_set:") {
			t.Errorf("a server was not asked: %q (%v)", said, err)
		}
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

// A ZooKeeper with TLS, which wants certificates of its clients. The worker knows nothing of
// that.
func TestYourZooKeeperWithTLS(t *testing.T) {
	t.Parallel()
	lockcheck := binary(t)
	dockertest.Module(t, "kazoo")
	cert, key := certificate(t, "zk.test")
	ours, settings := clientFlags(t, "zk.test", cert)
	m := dockertest.Group(t, 1)[0]
	script := place("own.pem", key+cert) + place("trust.pem", ours.text) + place("zoo.cfg", `dataDir=/data/zk
tickTime=500
secureClientPort=6379
admin.enableServer=false
serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
ssl.keyStore.location=/data/own.pem
ssl.trustStore.location=/data/trust.pem
`) + "exec java -Xmx64m -cp '/usr/share/java/*' org.apache.zookeeper.server.quorum.QuorumPeerMain /data/zoo.cfg >/data/log 2>&1"
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		return (&tls.Dialer{Config: settings}).DialContext(ctx, network, addr)
	}
	port := zookeeper.Port{Transport: zkclient.New(zkclient.Options{Addrs: []string{m.Addr}, Dial: dial})}
	var h zookeeper.Handle
	err := m.StartBy(t.Context(), script, func() (err error) {
		h, err = port.Open(t.Context(), time.Second, 20*time.Second)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.Background(), time.Second)
	worker := dockertest.Python + " " + absolute(t, "../../examples/workers/libraries/kazoo_lock.py")
	servers := append([]string{"--zookeeper", m.Addr}, ours.flags...)
	for _, fault := range []string{"pause", "kill-connection"} {
		onYours(t, lockcheck, "liveness", words("run", servers, "--worker", worker, "--fault", fault)...)
	}
	if list, err := h.GetChildren(t.Context(), time.Second, "/", false); err != nil || !slices.Equal(list, []string{"zookeeper"}) {
		t.Errorf("the nodes are %q (%v)", list, err)
	}
	without := []string{"--zookeeper", m.Addr, "--tls", "--tls-name", "zk.test", "--tls-ca", ours.ca}
	r := command(t, lockcheck, words("run", without, "--worker", worker, "--on", "external", "--out", t.TempDir())...)
	if r.code != unavailable {
		t.Errorf("without a certificate: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
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
