package suite

import (
	"slices"
	"strings"
	"testing"
)

func TestACommandIsSplitAsAShellDoes(t *testing.T) {
	for text, want := range map[string][]string{
		"python3 worker.py":                  {"python3", "worker.py"},
		`sh -c "exec python3 worker.py"`:     {"sh", "-c", "exec python3 worker.py"},
		`'my worker' a\ b "" "it's \"one\""`: {"my worker", "a b", "", `it's "one"`},
		"a $HOME *.py | b":                   {"a", "$HOME", "*.py", "|", "b"},
		`sh -c "exec`:                        nil,
		`a \`:                                nil,
		`""`:                                 nil,
		"# nothing":                          nil,
	} {
		if got, err := Command(text); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// The words of a command are saved with each run, so they must not contain a secret.
func TestACommandKeepsNoSecret(t *testing.T) {
	for _, text := range []string{
		"w --password hunter2", "w --redis-password=hunter2", "env DB_PASSWORD=hunter2 w", "w -passwd=hunter2",
		"w --client_secret hunter2", "env PGPASSWORD=hunter2 w", "env MYSQL_PWD=hunter2 w", "REDISCLI_AUTH=hunter2 w", "w --pass hunter2", "w redis://:hunter2@127.0.0.1:6379", "w --to mysql://me:hunter2@127.0.0.1",
	} {
		_, err := Command(text)
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "environment") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"w --password", "w password.py", "w --password-file /run/p x", "w http://127.0.0.1:80/a@b", "sh -c 'w --password $P'", "w --secretary x", "kubectl get secret y", "w --token own",
	} {
		if _, err := Command(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
