package models

// lines finds the line of an entry. Most entries have a line of their own, so only
// changes of the difference are stored.
type lines struct {
	breaks []lineBreak
}

// lineBreak says that from an entry on, the line is larger than the position by more.
type lineBreak struct{ pos, more int32 }

func (l *lines) add(pos int32, line int) {
	more := int32(line) - pos
	if n := len(l.breaks); n == 0 || l.breaks[n-1].more != more {
		l.breaks = append(l.breaks, lineBreak{pos, more})
	}
}

// of returns the line of the entry at pos.
func (l *lines) of(pos int32) int {
	low, high := 0, len(l.breaks)
	for high-low > 1 {
		if mid := (low + high) / 2; l.breaks[mid].pos <= pos {
			low = mid
		} else {
			high = mid
		}
	}
	if low == len(l.breaks) {
		return 0
	}
	return int(pos + l.breaks[low].more)
}
