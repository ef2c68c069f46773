package history

import (
	"encoding/binary"
	"time"
)

// A Log is a history in little memory: about 20 bytes for a client's line, while
// an Entry takes more than 300. The zero value is empty.
type Log struct {
	Header Header

	Invokes, Grants int // number of invokes, and of acquires that are ok

	size    int
	first   int      // index of the first entry
	strange bool     // the indices are not consecutive
	blocks  [][]byte // encoded entries, blockSize in each, each after its length
	block   []byte   // the last block, still growing
	times   [][]time.Duration

	words []string
	ids   map[string]uint64
}

const (
	blockSize = 64      // entries
	timesSize = 1 << 14 // times in one list
)

// These are the parts of an encoded entry.
const (
	hasName = 1 << iota
	hasClient
	sameClient // the client's name is the process's number
	hasLock
	isShared
	hasGrant
	hasToken
	hasValidUntil
	hasValue
	hasWas
	hasError
	hasText
	hasKey
	hasBy
	hasOp
	hasID
	hasOn
	hasPoint
	hasAmount
	hasHits
	hasIndex
)

// Len returns the number of entries.
func (l *Log) Len() int { return l.size }

// Time returns the time of the entry at pos.
func (l *Log) Time(pos int) time.Duration { return l.times[pos/timesSize][pos%timesSize] }

// Index returns the index of the entry at pos.
func (l *Log) Index(pos int) int {
	if !l.strange {
		return l.first + pos
	}
	var e Entry
	l.At(pos, &e)
	return e.Index
}

// word returns the number of a text that may repeat.
func (l *Log) word(text string) uint64 {
	id, ok := l.ids[text]
	if !ok {
		if l.ids == nil {
			l.ids = map[string]uint64{}
		}
		id = uint64(len(l.words))
		l.ids[text], l.words = id, append(l.words, text)
	}
	return id
}

// Add appends an entry.
func (l *Log) Add(e *Entry) {
	if l.size == 0 {
		l.first = e.Index
	}
	switch {
	case e.Type == Invoke:
		l.Invokes++
	case e.Type == OK && (e.F == Acquire || e.F == Try):
		l.Grants++
	}
	if l.size%timesSize == 0 {
		l.times = append(l.times, make([]time.Duration, 0, timesSize))
	}
	list := &l.times[len(l.times)-1]
	*list = append(*list, e.Time)
	if l.size > 0 && l.size%blockSize == 0 {
		l.blocks = append(l.blocks, append([]byte(nil), l.block...))
		l.block = l.block[:0]
	}
	var room [256]byte
	b := l.append(room[:0], e)
	l.block = append(binary.AppendUvarint(l.block, uint64(len(b))), b...)
	l.size++
}

func (l *Log) append(b []byte, e *Entry) []byte {
	at, mask := len(b), uint64(0)
	b = append(b, 0, 0, 0)
	word := func(bit uint64, text string) {
		if text != "" {
			mask |= bit
			b = binary.AppendUvarint(b, l.word(text))
		}
	}
	text := func(bit uint64, text string) {
		if text != "" {
			mask |= bit
			b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
	}
	number := func(bit uint64, is bool, n int64) {
		if is {
			mask |= bit
			b = binary.AppendVarint(b, n)
		}
	}
	b = binary.AppendUvarint(b, l.word(e.F)<<3|uint64(e.Type))
	if word(hasName, e.Process.Name); e.Process.Client() {
		b = binary.AppendVarint(b, int64(e.Process.N))
	}
	if e.Client != "" && e.Client == e.Process.String() {
		mask |= sameClient
	} else {
		word(hasClient, e.Client)
	}
	word(hasLock, e.Lock)
	if e.Shared {
		mask |= isShared
	}
	number(hasGrant, e.Grant != 0, int64(e.Grant))
	number(hasToken, e.Token != 0, int64(e.Token))
	number(hasValidUntil, e.ValidUntil != 0, int64(e.ValidUntil))
	number(hasValue, e.Value.Set, e.Value.V)
	number(hasWas, e.Was.Set, e.Was.V)
	word(hasError, e.Error)
	text(hasText, e.Text)
	word(hasKey, e.Key)
	number(hasBy, e.By.Set, e.By.V)
	number(hasOp, e.Op.Set, e.Op.V)
	number(hasID, e.ID != 0, int64(e.ID))
	if len(e.On) > 0 {
		mask |= hasOn
		b = binary.AppendUvarint(b, uint64(len(e.On)))
		for _, name := range e.On {
			b = binary.AppendUvarint(b, l.word(name))
		}
	}
	text(hasPoint, e.Point)
	number(hasAmount, e.Amount != 0, int64(e.Amount))
	number(hasHits, e.Hits.Set, e.Hits.V)
	if e.Index != l.first+l.size {
		l.strange = true
		number(hasIndex, true, int64(e.Index))
	}
	b[at], b[at+1], b[at+2] = byte(mask), byte(mask>>8), byte(mask>>16)
	return b
}

// At sets e to the entry at pos.
func (l *Log) At(pos int, e *Entry) {
	b := l.in(pos / blockSize)
	for range pos % blockSize {
		n, size := binary.Uvarint(b)
		b = b[size+int(n):]
	}
	_, size := binary.Uvarint(b)
	l.decode(pos, b[size:], e)
}

// in returns block n.
func (l *Log) in(n int) []byte {
	if n == len(l.blocks) {
		return l.block
	}
	return l.blocks[n]
}

// All yields the entries with their positions. An entry is valid until the next
// one.
func (l *Log) All(yield func(pos int, e *Entry) bool) {
	var e Entry
	var b []byte
	for pos := range l.size {
		if pos%blockSize == 0 {
			b = l.in(pos / blockSize)
		}
		n, size := binary.Uvarint(b)
		l.decode(pos, b[size:], &e)
		if b = b[size+int(n):]; !yield(pos, &e) {
			return
		}
	}
}

func (l *Log) decode(pos int, b []byte, e *Entry) {
	*e = Entry{Index: l.first + pos, Time: l.Time(pos)}
	mask := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	b = b[3:]
	count := func() uint64 {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return n
	}
	number := func() int64 {
		n, size := binary.Varint(b)
		b = b[size:]
		return n
	}
	integer := func(bit uint64) int64 {
		if mask&bit == 0 {
			return 0
		}
		return number()
	}
	option := func(bit uint64) Opt { return Opt{V: integer(bit), Set: mask&bit != 0} }
	word := func(bit uint64) string {
		if mask&bit == 0 {
			return ""
		}
		return l.words[count()]
	}
	text := func(bit uint64) string {
		if mask&bit == 0 {
			return ""
		}
		n := count()
		s := string(b[:n])
		b = b[n:]
		return s
	}
	what := count()
	e.F, e.Type = l.words[what>>3], Type(what&7)
	if e.Process.Name = word(hasName); e.Process.Name == "" {
		e.Process.N = int(number())
	}
	if e.Client = word(hasClient); mask&sameClient != 0 {
		e.Client = e.Process.String()
	}
	e.Lock, e.Shared = word(hasLock), mask&isShared != 0
	e.Grant, e.Token, e.ValidUntil = int(integer(hasGrant)), uint64(integer(hasToken)), time.Duration(integer(hasValidUntil))
	e.Value, e.Was = option(hasValue), option(hasWas)
	e.Error = word(hasError)
	e.Text = text(hasText)
	e.Key = word(hasKey)
	e.By, e.Op = option(hasBy), option(hasOp)
	e.ID = int(integer(hasID))
	if mask&hasOn != 0 {
		e.On = make([]string, count())
		for i := range e.On {
			e.On[i] = l.words[count()]
		}
	}
	e.Point = text(hasPoint)
	e.Amount, e.Hits = time.Duration(integer(hasAmount)), option(hasHits)
	if mask&hasIndex != 0 {
		e.Index = int(number())
	}
}
