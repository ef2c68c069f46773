package explore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// A Shard is what one of several machines does of an exploration: of Of the one
// with the number N, from 1. The zero value is all of it.
type Shard struct{ N, Of int }

// MostShards is how many parts an exploration can have.
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
		return Shard{}, errors.New("there has to be at least one shard")
	case sh.Of > MostShards:
		return Shard{}, fmt.Errorf("there can be %d shards, and no more", MostShards)
	case sh.N < 1 || sh.N > sh.Of:
		return Shard{}, fmt.Errorf("the shards of %d are 1/%d to %d/%d", sh.Of, sh.Of, sh.Of, sh.Of)
	}
	return sh, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.N, s.Of) }

// Has tells whether the run of a cell with a seed is done here. Of each run
// exactly one shard says so, on any machine: it hangs on a hash of the two and on
// nothing else.
func (s Shard) Has(cell string, seed uint64) bool {
	if s.Of <= 1 {
		return true
	}
	h := fnv.New64a()
	h.Write([]byte(cell))
	h.Write(binary.LittleEndian.AppendUint64([]byte{0}, seed))
	return int(mixed(h.Sum64())%uint64(s.Of)) == s.N-1
}

// mixed lets every bit of a sum decide on all of them. FNV-1a alone leaves the
// lowest of seeds that follow each other alike, and these choose the shard. It is
// MurmurHash3's fmix64.
func mixed(sum uint64) uint64 {
	sum = (sum ^ sum>>33) * 0xff51afd7ed558ccd
	sum = (sum ^ sum>>33) * 0xc4ceb9fe1a85ec53
	return sum ^ sum>>33
}
