package lockcheck_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// The address and the password of the MySQL server of TestExternal, which starts itself
// again with them.
const (
	yourMySQL    = "YOUR_MYSQL"
	yourPassword = "YOUR_MYSQL_KEY"
)

// A test in Go on a MySQL server with a password that the test did not start.
func TestExternal(t *testing.T) {
	if os.Getenv(yourMySQL) == "" {
		dockertest.Require(t)
		s := dockertest.MySQL(t)
		admin, err := s.Admin()
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close()
		for _, statement := range []string{"CREATE USER me@'%' IDENTIFIED BY 'correct-horse'", "GRANT ALL ON lockcheck.* TO me@'%'"} {
			if _, err := admin.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		again := exec.Command(os.Args[0], "-test.run=^TestExternal$", "-test.v")
		again.Env = append(os.Environ(), yourMySQL+"="+s.Addr, yourPassword+"=correct-horse")
		out, err := again.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "exclusion held under pause in") || strings.Contains(string(out), "correct-horse") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	servers := lockcheck.External(lockcheck.Endpoints{MySQL: "me@tcp(" + os.Getenv(yourMySQL) + ")/lockcheck", Password: "env:" + yourPassword})
	lockcheck.Test(t, servers, session, lockcheck.Promise("exclusion"), lockcheck.Faults("pause"), lockcheck.Clients(3))
}

// The same test runs in virtual time, on servers of the same kind.
func TestExternalInTheBubble(t *testing.T) {
	servers := lockcheck.External(lockcheck.Endpoints{Redis: "127.0.0.1:1"})
	lockcheck.Test(t, servers, naive, lockcheck.On("bubble"), lockcheck.Promise("exclusion"), lockcheck.Faults("none"), lockcheck.Runs(5))
}
