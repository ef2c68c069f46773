package checker

import "testing"

func TestHowManyPassedOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, story string
		want        int
	}{
		{"in the order in which they asked", `
			0 c1 acquire
			1 c2 acquire
			2 c1 acquire ok
			3 c1 release
			4 c2 acquire ok`, 0},
		{"one is passed twice, and the other once", `
			0 c1 acquire
			1 c2 acquire
			2 c3 acquire
			3 c3 acquire ok
			4 c3 release
			5 c2 acquire ok
			6 c2 release
			7 c1 acquire ok`, 2},
		{"who was refused is passed by those who came before that", `
			0 c1 acquire
			1 c2 acquire
			2 c2 acquire ok
			3 c2 release
			4 c2 release ok
			5 c1 acquire fail error=held
			6 c2 acquire
			7 c2 acquire ok`, 1},
		{"one of another lock passes nobody", `
			0 c1 acquire
			1 c2 acquire lock=b
			2 c2 acquire ok`, 0},
	} {
		if got := Passed(story(t, c.story)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
