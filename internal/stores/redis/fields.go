package redis

import (
	"encoding/binary"
	"iter"
)

// Fields returns the fields and values of a hash, oldest field first, as HGetAll
// answers with them: each as its length and its bytes. Redis keeps that order in a
// small hash.
func Fields(joined string) iter.Seq2[string, string] {
	return func(yield func(field, value string) bool) {
		for joined != "" {
			var field, value string
			field, joined = cut(joined)
			value, joined = cut(joined)
			if !yield(field, value) {
				return
			}
		}
	}
}

// AppendField adds a field to the end of a hash.
func AppendField(joined []byte, field, value string) []byte {
	for _, s := range []string{field, value} {
		joined = binary.AppendUvarint(joined, uint64(len(s)))
		joined = append(joined, s...)
	}
	return joined
}

// cut splits s after its first text.
func cut(s string) (text, rest string) {
	length, shift := 0, 0
	for i := range len(s) {
		length |= int(s[i]&0x7f) << shift
		if s[i] < 0x80 {
			return s[i+1 : i+1+length], s[i+1+length:]
		}
		shift += 7
	}
	return "", "" // not made by AppendField
}
