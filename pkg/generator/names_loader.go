package generator

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// LoaderCounts are the names that NVIDIA's aisloader counts: hexadecimal numbers with the loader's
// id in the lowest bits, so that loaders share no names. Without bits they are consecutive.
//
// Such names have no check code, so the name alone does not show who wrote an object.
type LoaderCounts struct {
	Bits int // a multiple of 4
	ID   uint64
}

// MaxLoaderBits leaves room for the numbers of the objects.
const MaxLoaderBits = 56

// CountsOfLoader returns the names of one of n loaders, whose ids start at 0.
func CountsOfLoader(id, loaders uint64) LoaderCounts {
	if loaders == 0 {
		return LoaderCounts{}
	}
	return LoaderCounts{Bits: wholeDigits(max(bits.Len64(loaders-1), 1)), ID: id}
}

// CountsOfNamedLoader returns the names of a loader whose id is a hash of its name with that many
// bits.
func CountsOfNamedLoader(name string, hashBits int) LoaderCounts {
	const seed = 1103515245 // aisloader's
	n := wholeDigits(hashBits)
	h := xxhash.NewWithSeed(seed)
	_, _ = h.WriteString(name)
	return LoaderCounts{Bits: n, ID: h.Sum64() & (1<<n - 1)}
}

// wholeDigits rounds a number of bits up to whole hexadecimal digits.
func wholeDigits(n int) int { return (n + 3) &^ 3 }

// Overlap reports whether both can count the same name.
func (c LoaderCounts) Overlap(d LoaderCounts) bool {
	mask := uint64(1)<<min(c.Bits, d.Bits) - 1
	return c.ID&mask == d.ID&mask
}

// counted reports whether names are counted as aisloader counts them.
func (g *Names) counted() bool { return g.layout.Loader && !g.layout.Random }

func (g *Names) appendCounted(dst []byte, n uint64) []byte {
	dst = append(dst, g.prefix...)
	if shards := uint64(g.layout.Shards); shards > 0 {
		dst = g.appendShard(dst, (n+1)%shards)
	}
	c := g.layout.Counts
	return strconv.AppendUint(dst, n<<c.Bits|c.ID, 16)
}

// parseCounted returns the number of an object. rest is its key without the prefix.
func (g *Names) parseCounted(key, rest string) (n uint64, ok bool) {
	if g.layout.Shards > 0 {
		if _, rest, ok = strings.Cut(rest, "/"); !ok {
			return 0, false
		}
	}
	v, err := strconv.ParseUint(rest, 16, 64)
	if err != nil {
		return 0, false
	}
	n = v >> g.layout.Counts.Bits
	var buf [128]byte
	return n, string(g.appendCounted(buf[:0], n)) == key
}
