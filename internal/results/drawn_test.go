package results

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// changed returns a JSON value with a part removed or replaced.
func changed(t *rapid.T, v any) any {
	if rapid.IntRange(0, 200).Draw(t, "here") == 77 {
		return rapid.SampledFrom([]any{
			nil, -1.0, 0.0, 1.0, 2.0, 1e15, "", "violated", "n/a", []any{}, map[string]any{}, []any{nil}, true,
		}).Draw(t, "instead")
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if rapid.IntRange(0, 400).Draw(t, "leave out") == 77 {
				delete(v, name)
			} else {
				v[name] = changed(t, v[name])
			}
		}
	case []any:
		for i := range v {
			v[i] = changed(t, v[i])
		}
	}
	return v
}

// No operation on a document that was read panics, whatever is in it.
func TestNoDocumentPanics(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	whole := func(n int) *Document {
		d := shard(n)
		violate(d, checker.Exclusion)
		d.Cells[0].Bound = &explore.Bound{}
		d.Against("baseline.json", shard(n))
		d.Decide()
		return d
	}
	used, refused := 0, 0
	read := func(t *rapid.T, d *Document) *Document {
		var v any
		if err := json.Unmarshal([]byte(text(d)), &v); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text(changed(t, v))), 0o666); err != nil {
			t.Fatal(err)
		}
		if drawn, err := ReadFile(path); err == nil {
			used++
			return drawn
		}
		refused++
		return d
	}
	rapidtest.Check(t, func(t *rapid.T) {
		a, b := read(t, whole(1)), read(t, whole(2))
		for _, pair := range [][2]*Document{{a, b}, {b, a}} {
			now, past := copied(pair[0]), pair[1]
			now.Incomparable(&past.Head)
			now.Settings[BaselineSetting] = "sha256:1" // like documents that were compared with a baseline
			now.Against(path, past)
			now.BrokenPromises()
			now.Decide()
		}
		a.Settings, b.Settings = whole(1).Settings, whole(2).Settings // so that Choose gets past the settings
		chosen, shards, err := Choose(sources(a, b))
		if err != nil {
			return
		}
		Merge(documents(chosen), shards).Essence()
	})
	if used == 0 || refused == 0 {
		t.Errorf("%d documents were read, %d were refused", used, refused)
	}
}
