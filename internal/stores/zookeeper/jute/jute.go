// Package jute reads and writes the bytes of ZooKeeper's protocols, between
// clients and servers and among servers: big-endian numbers, and data after its
// length.
//
// Source: Apache ZooKeeper, org.apache.jute.BinaryInputArchive.
package jute

import "encoding/binary"

// Packet is the unread rest of a packet. Missing data reads as zero, and the rest
// is then nil.
type Packet []byte

// Skip skips n bytes.
func (p Packet) Skip(n int) Packet {
	if len(p) < n {
		return nil
	}
	return p[n:]
}

// Int reads 4 bytes.
func (p Packet) Int() (int32, Packet) {
	if len(p) < 4 {
		return 0, nil
	}
	return int32(binary.BigEndian.Uint32(p)), p[4:]
}

// Long reads 8 bytes.
func (p Packet) Long() (int64, Packet) {
	if len(p) < 8 {
		return 0, nil
	}
	return int64(binary.BigEndian.Uint64(p)), p[8:]
}

// Buffer reads a length and that many bytes. The length -1 means no data.
func (p Packet) Buffer() ([]byte, Packet) {
	n, rest := p.Int()
	switch {
	case n == -1:
		return nil, rest
	case n < 0 || int(n) > len(rest):
		return nil, nil
	}
	return rest[:n], rest[n:]
}

// Text reads a string.
func (p Packet) Text() (string, Packet) {
	b, rest := p.Buffer()
	return string(b), rest
}

// Bool reads 1 byte.
func (p Packet) Bool() (bool, Packet) {
	if len(p) < 1 {
		return false, nil
	}
	return p[0] != 0, p[1:]
}

// List reads a count, and calls read for each element: read gets the rest of the
// packet and returns what it leaves. The count -1 means no list.
func (p Packet) List(read func(Packet) Packet) Packet {
	n, p := p.Int()
	if n < -1 {
		return nil
	}
	for ; n > 0 && p != nil; n-- {
		p = read(p)
	}
	return p
}

// SkipACLs skips a list of permissions, and returns their number.
func (p Packet) SkipACLs() (n int, rest Packet) {
	rest = p.List(func(p Packet) Packet {
		n++
		_, p = p.Skip(4).Buffer()
		_, p = p.Buffer()
		return p
	})
	return n, rest
}

// AppendInt writes 4 bytes, and AppendLong 8.
func AppendInt(b []byte, n int32) []byte  { return binary.BigEndian.AppendUint32(b, uint32(n)) }
func AppendLong(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

// AppendBuffer writes a length and that many bytes.
func AppendBuffer[T string | []byte](b []byte, s T) []byte {
	return append(AppendInt(b, int32(len(s))), s...)
}
