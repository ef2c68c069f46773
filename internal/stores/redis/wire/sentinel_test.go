package wire_test

import (
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

// Answers are those of a Sentinel of Redis 7.0.15, where it names no instance.
func TestSentinel(t *testing.T) {
	s := &wire.Sentinel{
		Name:      "mymaster",
		Master:    func() (host, port string) { return "10.0.0.1", "6379" },
		Replicas:  func() [][2]string { return [][2]string{{"10.0.0.2", "6379"}} },
		Sentinels: func() [][2]string { return [][2]string{{"10.0.0.3", "26379"}} },
	}
	c := new(wire.Conn)
	ask := func(request, want string) {
		t.Helper()
		if got := strings.ReplaceAll(string(s.Do(c, strings.Fields(request))), "\r\n", " "); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", request, got, want)
		}
	}
	ask("SENTINEL get-master-addr-by-name mymaster", "*2 $8 10.0.0.1 $4 6379 ")
	ask("sentinel GET-MASTER-ADDR-BY-NAME x", "*-1 ")
	ask("SENTINEL sentinels mymaster", "*1 *8 $4 name $14 10.0.0.3:26379 $2 ip $8 10.0.0.3 $4 port $5 26379 $5 flags $8 sentinel ")
	ask("SENTINEL sentinels x", "-ERR No such master with that name ")
	ask("SENTINEL slaves mymaster", "*1 *14 $4 name $13 10.0.0.2:6379 $2 ip $8 10.0.0.2 $4 port $4 6379 $5 flags $5 slave "+
		"$18 master-link-status $2 ok $11 master-host $8 10.0.0.1 $11 master-port $4 6379 ")
	ask("SENTINEL replicas x", "-ERR No such master with that name ")
	ask("SENTINEL master mymaster", "*10 $4 name $8 mymaster $2 ip $8 10.0.0.1 $4 port $4 6379 $5 flags $6 master $13 role-reported $6 master ")
	ask("SENTINEL master x", "-ERR No such master with that name ")
	ask("HELLO 2", "*12 $6 server $5 redis $7 version $6 7.0.15 $5 proto :2 $2 id :1 $4 mode $8 sentinel $7 modules *0 ")
	ask("HELLO 3", "%6 $6 server $5 redis $7 version $6 7.0.15 $5 proto :3 $2 id :1 $4 mode $8 sentinel $7 modules *0 ")
	ask("SENTINEL masters", "*1 %5 $4 name $8 mymaster $2 ip $8 10.0.0.1 $4 port $4 6379 $5 flags $6 master $13 role-reported $6 master ")
	ask("SENTINEL get-master-addr-by-name x", "_ ")
	ask("SENTINEL foo", "-ERR unknown subcommand 'foo'. Try SENTINEL HELP. ")
	ask("SENTINEL", "-ERR wrong number of arguments for 'sentinel' command ")
	ask("SENTINEL master", "-ERR wrong number of arguments for 'sentinel|master' command ")
	ask("GET k", "-ERR unknown command 'GET', with args beginning with: 'k'  ")
	ask("MULTI", "-ERR unknown command 'MULTI', with args beginning with:  ")
	ask("ROLE", "*2 $8 sentinel *1 $8 mymaster ")
	ask("CLIENT SETINFO a b", "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP. ")
	ask("CLIENT SETNAME a", "+OK ")
	ask("CLIENT TRACKING ON OPTIN", "+OK ")
	ask("PING", "+PONG ")
	if got := s.SwitchMaster(c, "10.0.0.1", "6379", "10.0.0.2", "6379"); got != nil {
		t.Errorf("without a subscription: %q", got)
	}
	ask("SUBSCRIBE +switch-master", ">3 $9 subscribe $14 +switch-master :1 ")
	want := ">3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$36\r\nmymaster 10.0.0.1 6379 10.0.0.2 6379\r\n"
	if got := s.SwitchMaster(c, "10.0.0.1", "6379", "10.0.0.2", "6379"); string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if m := s.Missing(); m != "" {
		t.Errorf("missing: %s", m)
	}
	ask("SENTINEL failover mymaster", "-ERR lockcheck's model of Redis has no SENTINEL FAILOVER: run with -lockcheck.on=docker ")
	if m := s.Missing(); m != "SENTINEL FAILOVER" {
		t.Errorf("missing: %s", m)
	}

	old := new(wire.Conn)
	s.Do(old, []string{"PSUBSCRIBE", "+switch-*"})
	want = "*4\r\n$8\r\npmessage\r\n$9\r\n+switch-*\r\n$14\r\n+switch-master\r\n$16\r\nmymaster a 1 b 2\r\n"
	if got := s.SwitchMaster(old, "a", "1", "b", "2"); string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
