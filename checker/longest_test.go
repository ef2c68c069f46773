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
		{"a client that was refused is passed by those who came before that", `
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

// Votes are split if no client can get a majority any more. This counts once, until
// it is over.
func TestSplits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, story string
		want        int
	}{
		{"one has a majority", `
			.nodes 3
			0 c1 acquire
			1 c2 acquire
			2 r1 grant of=c1 by=c1 key=k
			3 r2 grant of=c1 by=c1 key=k
			4 r3 grant of=c2 by=c2 key=k`, 0},
		{"a majority is still possible", `
			.nodes 3
			0 c1 acquire
			1 c2 acquire
			2 r1 grant of=c1 by=c1 key=k
			3 r2 grant of=c2 by=c2 key=k`, 0},
		{"each has one, twice", `
			.nodes 3
			0 c1 acquire
			1 c2 acquire
			2 c3 acquire
			3 r1 grant of=c1 by=c1 key=k
			4 r2 grant of=c2 by=c2 key=k
			5 r3 grant of=c3 by=c3 key=k
			6 r1 remove of=c1 by=c1 key=k
			7 r1 grant of=c1 by=c1 key=k`, 2},
		{"no servers are counted", `
			0 c1 acquire
			1 c2 acquire
			2 r1 grant of=c1 by=c1 key=k
			3 r2 grant of=c2 by=c2 key=k`, 0},
	} {
		if got := Splits(story(t, c.story)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
