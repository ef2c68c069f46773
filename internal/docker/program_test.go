package docker

import (
	"testing"
)

// Answers and events of a worker with several clients are those of the one that
// they are about; a worker with one need not say whose they are.
func TestWhoseAnAnswerIs(t *testing.T) {
	t.Parallel()
	g := &program{}
	for _, name := range []string{"c1", "c2", "c3"} {
		g.clients = append(g.clients, &client{
			program: g, name: name, asked: map[int64]running{}, runs: runs{visits: map[int64]*visit{}},
		})
	}
	g.clients[1].asked[7] = running{}
	g.clients[2].runs.visits[8] = &visit{}
	for id, want := range map[int64]string{7: "c2", 8: "c3", 9: "c1"} {
		if got := g.asker(id).name; got != want {
			t.Errorf("request %d is %s's, want %s", id, got, want)
		}
	}
	for said, want := range map[string]string{"c2": "c2", "c1": "c1", "": "c1"} {
		if got := g.called(said).name; got != want {
			t.Errorf("what is said of %q is %s's, want %s", said, got, want)
		}
	}
}
