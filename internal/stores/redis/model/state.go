package model

import (
	"encoding/binary"
	"time"
)

// AppendState appends the state of a running server at now to buf. Two servers
// with the same options and the same state answer alike from now on. Times are
// relative to now, and tags are left out, because no reply depends on them. The
// fraction of a millisecond of now counts only if a key expires. Pending Effects
// and Writes are left out, too.
func (s *Server) AppendState(buf []byte, now time.Duration) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(s.entries)))
	for _, key := range s.sorted() {
		buf = appendString(buf, key)
		buf = s.entries[key].append(buf, now)
	}
	if s.options.Fsync == Everysec {
		buf = s.appendUnsynced(buf, now)
	}
	switch {
	case s.follower && s.pressed:
		buf = append(buf, 'F')
	case s.follower:
		buf = append(buf, 'f')
	case s.pressed:
		buf = append(buf, 'p')
	}
	return buf
}

// appendUnsynced appends the changes that a crash would undo, and the time until
// they are synced.
func (s *Server) appendUnsynced(buf []byte, now time.Duration) []byte {
	buf = binary.AppendVarint(buf, int64(len(s.unsynced)))
	if len(s.unsynced) == 0 {
		return buf
	}
	buf = binary.AppendVarint(buf, int64(time.Duration(s.second+1)*time.Second-now))
	for _, c := range s.unsynced {
		buf = appendString(buf, c.key)
		if !c.had {
			buf = append(buf, 0)
			continue
		}
		buf = c.old.append(append(buf, 1), now)
	}
	return buf
}

func (e entry) append(buf []byte, now time.Duration) []byte {
	switch e.kind {
	case hash, list, set, zset:
		buf = appendString(append(buf, 'c', byte(e.kind)), e.str)
	default:
		buf = appendString(append(buf, 's'), e.text())
	}
	if e.due == never {
		return append(buf, 0)
	}
	left := time.Duration(e.due+1)*time.Millisecond - now
	return binary.AppendVarint(append(buf, 1), int64(left))
}

func appendString(buf []byte, s string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(s)))
	return append(buf, s...)
}
