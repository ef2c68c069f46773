package ask

import "testing"

func TestSizesAreReadWithTheirUnits(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64 // -1: not a size
		said string
	}{
		{"0", 0, "0"},
		{"1234567", 1234567, "1234567"},
		{"500MB", 500e6, "500MB"},
		{"500mb", 500e6, "500MB"},
		{"2GiB", 2 << 30, "2GiB"},
		{"1.5 GiB", 3 << 29, "1536MiB"},
		{"64KiB", 64 << 10, "65536"},
		{"7B", 7, "7"},
		{"1048576", 1 << 20, "1MiB"},
		{"1048575", -1, ""},
		{"200", -1, ""},
		{"1TB", 1e12, "1000GB"},
		{"", -1, ""},
		{"MB", -1, ""},
		{"-1GB", -1, ""},
		{"NaN", -1, ""},
		{"1e30GB", -1, ""},
		{"ten MB", -1, ""},
	} {
		var s Size
		err := s.Set(tt.text)
		if tt.want < 0 {
			if err == nil {
				t.Errorf("%q is %d bytes, and should be none", tt.text, s)
			}
			continue
		}
		if err != nil || int64(s) != tt.want || s.String() != tt.said {
			t.Errorf("%q is %d bytes, said as %s (%v); want %d, %s", tt.text, s, s.String(), err, tt.want, tt.said)
		}
	}
}
