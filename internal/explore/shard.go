package explore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// A Shard is the part of an exploration that one of several machines executes: part N,
// from 1, of Of. The zero value is all of it.
type Shard struct{ N, Of int }

// MostShards is the largest number of parts of an exploration.
const MostShards = 10_000

// ParseShard reads "2/4".
func ParseShard(s string) (Shard, error) {
	n, of, ok := strings.Cut(s, "/")
	sh := Shard{}
	var errN, errOf error
	sh.N, errN = strconv.Atoi(n)
	sh.Of, errOf = strconv.Atoi(of)
	switch {
	case !ok || errN != nil || errOf != nil:
		return Shard{}, errors.New("it has to be i/n, as 2/4: the second of four")
	case sh.Of < 1:
		return Shard{}, errors.New("there has to be at least 1 shard")
	case sh.Of > MostShards:
		return Shard{}, fmt.Errorf("there can be at most %d shards", MostShards)
	case sh.N < 1 || sh.N > sh.Of:
		return Shard{}, fmt.Errorf("the shards of %d are 1/%d to %d/%d", sh.Of, sh.Of, sh.Of, sh.Of)
	}
	return sh, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.N, s.Of) }

// Has reports whether this shard executes the run of a cell with a seed. Each run
// belongs to exactly one shard, on any machine: only a hash of the two decides.
func (s Shard) Has(cell string, seed uint64) bool {
	if s.Of <= 1 {
		return true
	}
	h := fnv.New64a()
	h.Write([]byte(cell))
	h.Write(binary.LittleEndian.AppendUint64([]byte{0}, seed))
	return int(mix(h.Sum64())%uint64(s.Of)) == s.N-1
}

// mix makes every bit of the result depend on all bits of sum. After FNV-1a alone
// consecutive seeds have similar lowest bits, and these choose the shard. It is
// MurmurHash3's fmix64.
func mix(sum uint64) uint64 {
	sum = (sum ^ sum>>33) * 0xff51afd7ed558ccd
	sum = (sum ^ sum>>33) * 0xc4ceb9fe1a85ec53
	return sum ^ sum>>33
}
