package ask

import (
	"testing"
	"time"
)

func TestDurationsAreSaidAsTheyAreTyped(t *testing.T) {
	for _, tt := range []struct {
		text string
		want time.Duration // -1: not a duration
		said string
	}{
		{"0", 0, "0"},
		{"30s", 30 * time.Second, "30s"},
		{"90s", 90 * time.Second, "1m30s"},
		{"60s", time.Minute, "1m"},
		{"1h", time.Hour, "1h"},
		{"10m", 10 * time.Minute, "10m"},
		{"1h0m20s", time.Hour + 20*time.Second, "1h0m20s"},
		{"1.5ms", 1500 * time.Microsecond, "1.5ms"},
		{"2", -1, ""},
		{"soon", -1, ""},
		{"", -1, ""},
	} {
		var d Duration
		err := d.Set(tt.text)
		if tt.want < 0 {
			if err == nil {
				t.Errorf("%q is %v, and should be none", tt.text, time.Duration(d))
			}
			continue
		}
		if err != nil || time.Duration(d) != tt.want || d.String() != tt.said {
			t.Errorf("%q is %v, said as %s (%v); want %v, %s", tt.text, time.Duration(d), d.String(), err, tt.want, tt.said)
		}
	}
}
