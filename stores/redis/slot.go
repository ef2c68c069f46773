package redis

import "strings"

// Slots is how many slots the keys of a cluster are spread over.
const Slots = 1 << 14

// SlotsOf are the first and the last slot of the master of that number, 0 to
// masters-1, where all masters of a cluster have as many.
func SlotsOf(master, masters int) (from, to int) {
	return master * Slots / masters, (master+1)*Slots/masters - 1
}

// Slot is the slot of a cluster that key belongs to, 0 to 16383: a checksum of
// the key, or of the part between its first { and the next }, if there is one
// and something in it.
func Slot(key string) int {
	if _, tail, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(tail, "}"); ok && tag != "" {
			key = tag
		}
	}
	return int(crc16(key)) % Slots
}

// crc16 is the CRC that XMODEM uses: polynomial x¹⁶+x¹²+x⁵+1, highest bit
// first, from 0. Half bytes keep the table small.
func crc16(s string) (crc uint16) {
	for i := range len(s) {
		crc = crc<<4 ^ crcs[crc>>12^uint16(s[i]>>4)]
		crc = crc<<4 ^ crcs[crc>>12^uint16(s[i]&0xf)]
	}
	return crc
}

var crcs = [16]uint16{
	0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
	0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef,
}
