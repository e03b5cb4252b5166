package generator

import (
	"strconv"
	"strings"
)

// alphabet is Crockford's base 32 in lower case: 5 bits per character, safe in every store, also in those that
// ignore case.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const (
	codeBits = 40 // of a thread's code and of a check: 8 characters each
	codeLen  = codeBits / 5
	halfBits = codeBits / 2
	suffix   = ".rnd"
)

// RunPrefix is the prefix of all objects under a seed, such as "warp-1c3kq0x5wz8hm/". The seed's 64 bits go through
// a bijection and are all in it: a seed's prefix is repeatable, and no two seeds have the same.
func RunPrefix(seed uint64) string {
	return "warp-" + string(appendBase32(nil, mix(seed^golden), 13)) + "/"
}

// Names makes the names of objects, and knows them again:
//
//	<prefix><thread>/<n>.<check>.rnd     n counts the objects of a thread
//	<prefix><n>.<thread><check>.rnd      with all threads directly under the prefix
//
// thread is a code that only the seed can tell apart from noise, so that threads spread over the key space of a
// store instead of next to each other; check is a hash of seed, thread and n. A name of somebody else would have to
// have 48 bits right by chance to be mistaken for one of these.
type Names struct {
	prefix   string
	key      uint64
	noPrefix bool
}

// NewNames makes names that start with prefix (usually the user's, and then RunPrefix).
func NewNames(prefix string, seed uint64, noPrefix bool) *Names {
	return &Names{prefix: prefix, key: derive(seed, "names", 0), noPrefix: noPrefix}
}

// Key is the name of object n of a thread.
func (g *Names) Key(thread uint32, n uint64) string {
	var buf [128]byte
	return string(g.AppendKey(buf[:0], thread, n))
}

// AppendKey appends the name of object n of a thread.
func (g *Names) AppendKey(dst []byte, thread uint32, n uint64) []byte {
	if !g.noPrefix {
		dst = g.AppendThreadPrefix(dst, thread)
		dst = append(strconv.AppendUint(dst, n, 10), '.')
	} else {
		dst = append(dst, g.prefix...)
		dst = append(strconv.AppendUint(dst, n, 10), '.')
		dst = appendBase32(dst, g.encode(uint64(thread)), codeLen)
	}
	return append(appendBase32(dst, g.check(thread, n), codeLen), suffix...)
}

// AppendThreadPrefix appends what the names of a thread's objects start with, which is what a listing of one
// thread's objects asks for. With all threads directly under the prefix that is the prefix.
func (g *Names) AppendThreadPrefix(dst []byte, thread uint32) []byte {
	dst = append(dst, g.prefix...)
	if g.noPrefix {
		return dst
	}
	return append(appendBase32(dst, g.encode(uint64(thread)), codeLen), '/')
}

// Owns tells whether Key can have made this name: it reads thread and n back, and makes the name again.
func (g *Names) Owns(key string) bool {
	_, _, ok := g.Parse(key)
	return ok
}

// Parse returns what Key was called with.
func (g *Names) Parse(key string) (thread uint32, n uint64, ok bool) {
	rest, ok := strings.CutPrefix(key, g.prefix)
	if !ok {
		return 0, 0, false
	}
	code, number := g.split(rest)
	threadBits, ok := parseBase32(code)
	if !ok {
		return 0, 0, false
	}
	decoded := g.decode(threadBits)
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || decoded>>32 != 0 {
		return 0, 0, false
	}
	thread = uint32(decoded)
	var buf [128]byte
	return thread, n, string(g.AppendKey(buf[:0], thread, n)) == key
}

// split finds thread code and number in what follows the prefix; either is empty if it is not there.
func (g *Names) split(rest string) (code, number string) {
	if !g.noPrefix {
		code, rest, _ = strings.Cut(rest, "/")
		number, _, _ = strings.Cut(rest, ".")
		return code, number
	}
	number, rest, _ = strings.Cut(rest, ".")
	return rest[:min(codeLen, len(rest))], number
}

func (g *Names) check(thread uint32, n uint64) uint64 {
	return mix(mix(g.key+golden*(uint64(thread)+1))^n) >> (64 - codeBits)
}

// encode is a bijection on 40 bits that depends on the seed: a Feistel network of four rounds, so that decode can
// find the thread without a table of all threads there ever were.
func (g *Names) encode(x uint64) uint64 {
	left, right := x>>halfBits, x&(1<<halfBits-1)
	for i := range uint64(4) {
		left, right = right, left^g.round(i, right)
	}
	return left<<halfBits | right
}

func (g *Names) decode(x uint64) uint64 {
	left, right := x>>halfBits, x&(1<<halfBits-1)
	for i := range uint64(4) {
		left, right = right^g.round(3-i, left), left
	}
	return left<<halfBits | right
}

func (g *Names) round(i, half uint64) uint64 {
	return mix(g.key+golden*(i<<halfBits|half)) >> (64 - halfBits)
}

// appendBase32 appends the lowest bits of v, most significant first.
func appendBase32(dst []byte, v uint64, chars int) []byte {
	for i := chars - 1; i >= 0; i-- {
		dst = append(dst, alphabet[v>>(5*i)&31])
	}
	return dst
}

func parseBase32(s string) (uint64, bool) {
	if len(s) != codeLen {
		return 0, false
	}
	var v uint64
	for i := range len(s) {
		digit := strings.IndexByte(alphabet, s[i])
		if digit < 0 {
			return 0, false
		}
		v = v<<5 | uint64(digit)
	}
	return v, true
}
