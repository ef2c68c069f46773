package clients

import (
	"testing"
)

// Answers and events of a worker with several clients belong to the client that they
// are about. A worker with one client may omit its name.
func TestAnswersBelongToTheirClients(t *testing.T) {
	t.Parallel()
	g := &program{}
	for _, name := range []string{"c1", "c2", "c3"} {
		g.clients = append(g.clients, &client{
			program: g, name: name, asked: map[int64]openOperation{}, runs: runs{visits: map[int64]*visit{}},
		})
	}
	g.clients[1].asked[7] = openOperation{}
	g.clients[2].runs.visits[8] = &visit{}
	for id, want := range map[int64]string{7: "c2", 8: "c3", 9: "c1"} {
		if got := g.asker(id).name; got != want {
			t.Errorf("request %d belongs to %s, want %s", id, got, want)
		}
	}
	for said, want := range map[string]string{"c2": "c2", "c1": "c1", "": "c1"} {
		if got := g.client(said).name; got != want {
			t.Errorf("an event of %q belongs to %s, want %s", said, got, want)
		}
	}
}
