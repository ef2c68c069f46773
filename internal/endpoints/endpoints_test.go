package endpoints_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/endpoints"
)

// Each mistake has an error, which does not repeat what may be a secret.
func TestCheck(t *testing.T) {
	t.Parallel()
	const here, secret = "127.0.0.1:1", "hunter22"
	for want, s := range map[string]endpoints.Servers{
		"":                              {Redis: "127.0.0.1:1,localhost:2,[::1]:3", User: "me", Password: "file:/x"},
		"of one kind":                   {Redis: here, MySQL: "u@tcp(" + here + ")/d"},
		"needs the addresses":           {TLS: true},
		"is there twice":                {Redis: here + "," + here},
		"without a scheme":              {Redis: "redis://me:" + secret + "@127.0.0.1:1"},
		"MASTER@host:port":              {Sentinel: here},
		"not on this machine":           {ZooKeeper: here + ",zk.example.com:2181"},
		"user@tcp(host:port)/database":  {MySQL: "u:" + secret + "@tcp(" + here + ")/d"},
		"leave out tls=":                {MySQL: "u@tcp(" + here + ")/d?tls=true"},
		"env:NAME or file:PATH":         {Redis: here, Password: secret},
		"authenticates itself":          {ZooKeeper: here, Password: "env:X"},
		"user: it is for redis":         {MySQL: "u@tcp(" + here + ")/d", User: "me"},
		"user: it needs a password":     {Redis: here, User: "me"},
		"need tls":                      {Redis: here, TLSName: "redis"},
		"tls-cert and tls-key need":     {Redis: here, TLS: true, TLSKey: "x"},
		"redis: each address has to be": {Redis: "127.0.0.1"},
	} {
		err := s.Check()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret)) {
			t.Errorf("%q: %v", want, err)
		}
	}
	own := endpoints.Servers{Redis: "10.0.0.5:6379", OwnThem: true}
	if err := own.Check(); err != nil {
		t.Error(err)
	}
}

// Flags name the servers as the user did, with the source of the password.
func TestFlags(t *testing.T) {
	t.Parallel()
	s := &endpoints.Servers{Redis: "a:1,b:1", User: "me", Password: "env:X", TLS: true, TLSName: "redis", OwnThem: true}
	want := "--redis a:1,b:1 --user me --password env:X --tls --tls-name redis --i-own-these-servers"
	if got := strings.Join(s.Flags(), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s = nil; s.Flags() != nil {
		t.Error("no servers have flags")
	}
}

// A password is read where its source says.
func TestSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("two words\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("A_PASSWORD", "x y")
	for source, want := range map[string]string{"": "", "env:A_PASSWORD": "x y", "file:" + file: "two words"} {
		s := endpoints.Servers{Password: source}
		if got, err := s.Secret(); got != want || err != nil {
			t.Errorf("%s: %q, %v", source, got, err)
		}
	}
	for _, source := range []string{"env:NOT_SET_AT_ALL", "file:" + file + ".none"} {
		s := endpoints.Servers{Password: source}
		if _, err := s.Secret(); err == nil {
			t.Errorf("%s has a password", source)
		}
	}
}

// The set-up of the servers follows from their addresses.
func TestLayout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s     endpoints.Servers
		store string
		nodes int
		lock  string // a built-in one that can use them
	}{
		{endpoints.Servers{Redis: "a:1"}, endpoints.Redis, 0, "redis-set-lua"},
		{endpoints.Servers{Redis: "a:1,b:1,c:1"}, endpoints.Redlock, 3, "redlock"},
		{endpoints.Servers{Redis: "a:1,b:1,c:1,d:1,e:1"}, endpoints.Redlock, 0, "redlock"},
		{endpoints.Servers{Sentinel: "m@a:1,b:1"}, endpoints.Sentinel, 0, "redis-set-lua"},
		{endpoints.Servers{ZooKeeper: "a:1"}, endpoints.ZooKeeper, 1, "zk-recipe"},
		{endpoints.Servers{MySQL: "u@tcp(a:1)/d"}, endpoints.MySQL, 0, ""},
	} {
		if got := tt.s.Layout(); tt.s.Store() != tt.store || got != (catalogue.Server{Nodes: tt.nodes}) {
			t.Errorf("%+v: %s, %+v", tt.s, tt.s.Store(), got)
		}
		for _, id := range []string{"redis-set-lua", "redlock", "zk-recipe", "mysql-get-lock"} {
			lock, _ := catalogue.FindLock(id)
			err := tt.s.Serve(&lock, catalogue.Options{})
			if (err == nil) != (id == tt.lock) {
				t.Errorf("%s on %s: %v", id, tt.store, err)
			}
		}
	}
}

// A worker learns from its environment who it is to the server.
func TestWorkerDSN(t *testing.T) {
	s := endpoints.Servers{MySQL: "me@tcp(127.0.0.1:3306)/shop?x=1"}
	if got := endpoints.WorkerDSN("127.0.0.1:9"); got != "" {
		t.Errorf("outside of a worker it is %q", got)
	}
	for _, v := range s.Environ("a:b@c/d") {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	if got := endpoints.WorkerDSN("127.0.0.1:9"); got != "me:a:b@c/d@tcp(127.0.0.1:9)/shop" {
		t.Errorf("got %q", got)
	}
}
