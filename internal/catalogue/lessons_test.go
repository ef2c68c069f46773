package catalogue

import "testing"

func TestEachCaseIsInOneLesson(t *testing.T) {
	in := map[string]int{}
	for _, l := range Lessons {
		for _, id := range l.Cases {
			if in[id]++; in[id] > 1 {
				t.Errorf("%s is in two lessons", id)
			}
			if _, ok := FindCase(id); !ok {
				t.Errorf("%s has %s, which is no case", l.Name, id)
			}
		}
	}
	for _, c := range Cases {
		if in[c.ID] == 0 {
			t.Errorf("%s is in no lesson", c.ID)
		}
	}
}
