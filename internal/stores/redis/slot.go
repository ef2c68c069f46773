package redis

import "strings"

// Slots is the number of slots in a cluster.
const Slots = 1 << 14

// SlotsOf returns the first and the last slot of the given master, 0 to
// masters-1. All masters of the cluster have the same number of slots, plus or
// minus one.
func SlotsOf(master, masters int) (from, to int) {
	return master * Slots / masters, (master+1)*Slots/masters - 1
}

// Slot returns the slot of key in a cluster, 0 to 16383: a checksum of the key,
// or of the non-empty part between its first { and the next }.
func Slot(key string) int {
	if _, tail, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(tail, "}"); ok && tag != "" {
			key = tag
		}
	}
	return int(crc16(key)) % Slots
}

// crc16 is the CRC of XMODEM: polynomial x¹⁶+x¹²+x⁵+1, highest bit first, from 0.
// It works on half bytes to keep the table small.
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
