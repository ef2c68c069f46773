// Package endpoints describes servers that a user runs: where they are, and how to prove
// to them who asks. Flags, lockcheck.yaml and Go tests name them with the same words. A
// password is never one of these words: only its source is.
package endpoints

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// Servers are servers of one kind that a user runs, as the user writes them. Words explains
// the fields.
type Servers struct {
	Redis     string `yaml:"redis"`
	Sentinel  string `yaml:"sentinel"`
	ZooKeeper string `yaml:"zookeeper"`
	MySQL     string `yaml:"mysql"`
	User      string `yaml:"user"`
	Password  string `yaml:"password"`
	TLS       bool   `yaml:"tls"`
	TLSName   string `yaml:"tls-name"`
	TLSCA     string `yaml:"tls-ca"`
	TLSCert   string `yaml:"tls-cert"`
	TLSKey    string `yaml:"tls-key"`
	OwnThem   bool   `yaml:"i-own-these-servers"`
}

// Word is a flag, or a key of lockcheck.yaml.
type Word struct {
	Name, About string
	Text        *string // nil: it is true or false
	Is          *bool
}

// Words returns the words that set the fields.
func (s *Servers) Words() []Word {
	return []Word{
		{Redis, "`address` of your Redis server, as host:port; several, with commas, are independent servers for Redlock", &s.Redis, nil},
		{Sentinel, "your Redis `master` and its Sentinels, as MASTER@host:port; several Sentinels with commas", &s.Sentinel, nil},
		{ZooKeeper, "`address` of your ZooKeeper, as host:port; all members with commas", &s.ZooKeeper, nil},
		{MySQL, "your MySQL server as a `source`, user@tcp(host:port)/database, without a password", &s.MySQL, nil},
		{"user", "the `user` of Redis", &s.User, nil},
		{"password", "`where` the password is: env:NAME or file:PATH", &s.Password, nil},
		{"tls", "connect to the servers with TLS", nil, &s.TLS},
		{"tls-name", "the `name` in the certificates of the servers (default: the host of each address)", &s.TLSName, nil},
		{"tls-ca", "`file` with the certificates to trust (default: those of this machine)", &s.TLSCA, nil},
		{"tls-cert", "`file` with the certificate of the clients", &s.TLSCert, nil},
		{"tls-key", "`file` with the key of that certificate", &s.TLSKey, nil},
		{"i-own-these-servers", "you may disturb the users of these servers; needed if they are on other machines", nil, &s.OwnThem},
	}
}

// The kinds of servers, as run --store calls them.
const (
	Redis     = "redis"
	Redlock   = "redlock"
	Sentinel  = "sentinel"
	ZooKeeper = "zookeeper"
	MySQL     = "mysql"
)

// kinds returns the addresses by kind.
func (s *Servers) kinds() []struct{ kind, text string } {
	return []struct{ kind, text string }{{Redis, s.Redis}, {Sentinel, s.Sentinel}, {ZooKeeper, s.ZooKeeper}, {MySQL, s.MySQL}}
}

// Given returns the names of the words that are written. s may be nil.
func (s *Servers) Given() (list []string) {
	if s == nil {
		return nil
	}
	for _, w := range s.Words() {
		if w.Text != nil && *w.Text != "" || w.Is != nil && *w.Is {
			list = append(list, w.Name)
		}
	}
	return list
}

// Flags returns the flags that name the servers: the words of a command. They have the
// source of the password, not the password. s may be nil.
func (s *Servers) Flags() (flags []string) {
	if s == nil {
		return nil
	}
	for _, w := range s.Words() {
		switch {
		case w.Text == nil && *w.Is:
			flags = append(flags, "--"+w.Name)
		case w.Text != nil && *w.Text != "":
			flags = append(flags, "--"+w.Name, *w.Text)
		}
	}
	return flags
}

// Store returns the kind of the servers, as run --store calls it; "": there are none, and s
// may be nil.
func (s *Servers) Store() string {
	if s == nil {
		return ""
	}
	for _, k := range s.kinds() {
		switch {
		case k.text == "":
		case k.kind == Redis && strings.Contains(k.text, ","):
			return Redlock
		default:
			return k.kind
		}
	}
	return ""
}

// Addrs returns the addresses: of the Sentinels, if they name the servers.
func (s *Servers) Addrs() []string {
	switch s.Store() {
	case MySQL:
		if part := sourceName.FindStringSubmatch(s.MySQL); part != nil {
			return []string{part[2]}
		}
	case Sentinel:
		_, list, _ := strings.Cut(s.Sentinel, "@")
		return strings.Split(list, ",")
	}
	return strings.Split(s.Redis+s.ZooKeeper, ",")
}

// Master returns the name that the Sentinels have for their master.
func (s *Servers) Master() string {
	name, _, _ := strings.Cut(s.Sentinel, "@")
	return name
}

// Check returns an error that says what is wrong, and never repeats what may be a secret.
func (s *Servers) Check() error {
	if err := s.CheckKind(); err != nil {
		return err
	}
	return cmp.Or(s.checkMySQL(), s.checkAddrs(), s.checkPassword(), s.checkTLS())
}

// CheckKind returns an error unless the servers are of one kind.
func (s *Servers) CheckKind() error {
	some := 0
	for _, k := range s.kinds() {
		if k.text != "" {
			some++
		}
	}
	if some != 1 {
		return errors.New("external needs the addresses of your servers, which are of one kind: redis, sentinel, zookeeper or mysql")
	}
	return nil
}

// sourceName is a data source name of go-sql-driver/mysql: its user, address, database and
// parameters. There is no place for a password.
var sourceName = regexp.MustCompile(`^([^:@/()]+)@tcp\(([^()@/]+)\)/([A-Za-z0-9_$-]+)(\?[^@/]*)?$`)

func (s *Servers) checkMySQL() error {
	switch part := sourceName.FindStringSubmatch(s.MySQL); {
	case s.MySQL == "":
	case part == nil:
		return errors.New("mysql: it has to be user@tcp(host:port)/database, without a password: say where that is with password env:NAME or file:PATH")
	case strings.Contains(part[4], "tls="):
		return errors.New("mysql: leave out tls=, and write tls beside it")
	}
	return nil
}

// DSN returns the data source name of the MySQL server for a client that reaches it at addr,
// with the password. Links do the TLS.
func (s *Servers) DSN(addr string) (string, error) {
	part := sourceName.FindStringSubmatch(s.MySQL)
	if part == nil {
		return "", errors.New("there is no MySQL server")
	}
	secret, err := s.Secret()
	if secret != "" {
		secret = ":" + secret
	}
	return part[1] + secret + "@tcp(" + addr + ")/" + part[3] + part[4], err
}

func (s *Servers) checkAddrs() error {
	if s.Sentinel != "" && (s.Master() == "" || !strings.Contains(s.Sentinel, "@")) {
		return errors.New("sentinel: it has to be MASTER@host:port")
	}
	seen := map[string]bool{}
	for _, addr := range s.Addrs() {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" || strings.ContainsAny(addr, "@/ ") {
			return fmt.Errorf("%s: each address has to be host:port, without a scheme, a user or a password", s.kind())
		}
		if seen[addr] {
			return fmt.Errorf("%s: %s is there twice", s.kind(), addr)
		}
		seen[addr] = true
		if err := s.Allowed(addr); err != nil {
			return err
		}
	}
	return nil
}

// kind returns the word by which the user names the servers.
func (s *Servers) kind() string {
	if s.Redis != "" {
		return Redis
	}
	return s.Store()
}

// Allowed returns an error if a server is on another machine, and the user has not said
// that the servers are theirs.
func (s *Servers) Allowed(addr string) error {
	host, _, _ := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); s.OwnThem || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return Foreign(addr)
}

// Foreign is the error of an address that the user has not allowed.
type Foreign string

func (f Foreign) Error() string {
	return string(f) + " is not on this machine: lockcheck writes to it, and scans its keys. If you may do that there, write i-own-these-servers"
}

var passwordSource = regexp.MustCompile(`^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$`)

func (s *Servers) checkPassword() error {
	switch {
	case s.Password != "" && !passwordSource.MatchString(s.Password):
		return errors.New("password: it has to be env:NAME or file:PATH, because a password in a command or a file of settings is no secret")
	case s.Password != "" && s.ZooKeeper != "":
		return errors.New("password: it is for redis, sentinel and mysql; a worker authenticates itself to ZooKeeper")
	case s.User != "" && s.Redis+s.Sentinel == "":
		return errors.New("user: it is for redis and sentinel")
	case s.User != "" && s.Password == "":
		return errors.New("user: it needs a password")
	}
	return nil
}

func (s *Servers) checkTLS() error {
	switch {
	case !s.TLS && s.TLSName+s.TLSCA+s.TLSCert+s.TLSKey != "":
		return errors.New("tls-name, tls-ca, tls-cert and tls-key need tls")
	case (s.TLSCert == "") != (s.TLSKey == ""):
		return errors.New("tls-cert and tls-key need each other")
	}
	return nil
}

// Secret returns the password; "": there is none. It reads the password each time, so that
// nothing keeps it.
func (s *Servers) Secret() (string, error) {
	if s.Password == "" {
		return "", nil
	}
	from, where, _ := strings.Cut(s.Password, ":")
	secret := ""
	if from == "env" {
		secret = os.Getenv(where)
	} else {
		text, err := os.ReadFile(where)
		if err != nil {
			return "", fmt.Errorf("password: %w", err)
		}
		secret = strings.TrimRight(string(text), "\r\n")
	}
	if secret == "" {
		return "", fmt.Errorf("password: %s has none", s.Password)
	}
	return secret, nil
}

// Layout returns the set-up of the servers, as far as it differs from that of a store's
// usual servers.
func (s *Servers) Layout() (l catalogue.Server) {
	lock, _ := catalogue.WorkerLock("", s.Store()) // Check knows the store
	if n := len(s.Addrs()); s.Store() == ZooKeeper || lock.Nodes > 1 && n != lock.Nodes {
		l.Nodes = n
	}
	return l
}

// Serve returns an error unless a built-in lock can use the servers.
func (s *Servers) Serve(lock *catalogue.Lock, o catalogue.Options) error {
	needs := Redis
	switch {
	case lock.Store == catalogue.StoreMySQL:
		return fmt.Errorf("%s needs a table and an account of its own: for your MySQL server bring a worker, or run it on docker", lock.ID)
	case lock.Store == catalogue.StoreZooKeeper:
		needs = ZooKeeper
	case o.OwnToken:
		return fmt.Errorf("%s draws its tokens from a server of their own, which lockcheck starts on docker only", lock.ID)
	case lock.Nodes > 1:
		needs = Redlock
	case s.Store() == Sentinel:
		needs = Sentinel
	}
	if s.Store() != needs {
		return fmt.Errorf("%s stands on %s, and the addresses are of %s", lock.ID, needs, s.Store())
	}
	return nil
}
