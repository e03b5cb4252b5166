package generator

import (
	"math/bits"
	"strconv"
	"strings"
)

// alphabet is Crockford's base 32 in lower case: 5 bits per character, safe in every store,
// including those that ignore case.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const (
	codeBits = 40 // bits of a thread's code and of a check: 8 characters each
	codeLen  = codeBits / 5
	halfBits = codeBits / 2
	suffix   = ".rnd"

	// For a random name: 32 characters in total.
	numberLen    = 13 // 64 bits
	longCheckLen = 11
	shardLen     = 5
)

// RunPrefix returns the prefix of all objects of a seed, such as "warp-1c3kq0x5wz8hm/". It contains
// all 64 bits of the seed through a bijection: a seed's prefix is repeatable, and no two seeds
// share one.
func RunPrefix(seed uint64) string {
	return "warp-" + string(appendBase32(nil, mix(seed^golden), 13)) + "/"
}

// ClientPrefix returns the prefix of one of several clients started with the same seed, such as
// "warp-1c3kq0x5wz8hm/c3/". For a single client it is RunPrefix.
func ClientPrefix(seed uint64, client, clients int) string {
	if clients == 0 {
		return RunPrefix(seed)
	}
	return RunPrefix(seed) + "c" + strconv.Itoa(client) + "/"
}

// A Layout says how names are arranged below their prefix.
type Layout struct {
	NoPrefix bool // all threads directly under the prefix instead of one directory for each
	Shards   int  // number of directories, shared by all threads; 0 = none
	Random   bool // random names of 32 characters instead of counted ones

	// Loader makes the names of NVIDIA's aisloader, directly under a prefix chosen by the user:
	// they contain nothing about the run.
	Loader bool
	Counts LoaderCounts // how to count, unless they are random
}

// MaxShards is the max of Layout.Shards, because names of directories have five digits.
const MaxShards = 100_000

// Names makes the names of objects, and recognizes them:
//
//	<prefix><thread>/<n>.<check>.rnd           n counts the objects of a thread
//	<prefix><n>.<thread><check>.rnd            with all threads directly under the prefix
//	<prefix><shard>/<n>.<thread><check>.rnd    with shards, which a thread uses in turn
//	…/<n'><thread><check>                      random: n' looks like noise, and check is longer
//
// thread is a code that looks like noise without the seed, so that threads spread over the key
// space of a store. check is a hash of seed, thread and n. To be mistaken for one of these names, a
// foreign name would need 48 bits to be right by chance.
type Names struct {
	prefix string
	key    uint64
	layout Layout
}

// NewNames returns names that start with prefix (usually the user's prefix followed by RunPrefix).
func NewNames(prefix string, seed uint64, layout Layout) *Names {
	return &Names{prefix: prefix, key: derive(seed, "names", 0), layout: layout}
}

// Random reports whether the names are random: a thread cannot name the objects of another.
func (g *Names) Random() bool { return g.layout.Random }

// Key returns the name of object n of a thread.
func (g *Names) Key(thread uint32, n uint64) string {
	var buf [128]byte
	return string(g.AppendKey(buf[:0], thread, n))
}

// AppendKey appends the name of object n of a thread.
func (g *Names) AppendKey(dst []byte, thread uint32, n uint64) []byte {
	if g.counted() {
		return g.appendCounted(dst, n)
	}
	dst = g.AppendThreadPrefix(dst, thread)
	if g.layout.Shards > 0 {
		dst = g.appendShard(dst, g.shard(thread, n))
	}
	if g.layout.Random {
		dst = appendBase32(dst, mix(n^g.threadKey(thread)), numberLen)
		dst = appendBase32(dst, g.encode(uint64(thread)), codeLen)
		return appendBase32(dst, g.check(thread, n, 5*longCheckLen), longCheckLen)
	}
	dst = append(strconv.AppendUint(dst, n, 10), '.')
	if !g.threadsApart() {
		dst = appendBase32(dst, g.encode(uint64(thread)), codeLen)
	}
	return append(appendBase32(dst, g.check(thread, n, codeBits), codeLen), suffix...)
}

// AppendThreadPrefix appends the common prefix of the names of a thread's objects, for listing
// them. With all threads directly under the prefix, this is the prefix.
func (g *Names) AppendThreadPrefix(dst []byte, thread uint32) []byte {
	dst = append(dst, g.prefix...)
	if !g.threadsApart() {
		return dst
	}
	return append(appendBase32(dst, g.encode(uint64(thread)), codeLen), '/')
}

// threadsApart reports whether each thread has its own directory.
func (g *Names) threadsApart() bool {
	return !g.layout.NoPrefix && g.layout.Shards == 0 && !g.layout.Loader
}

// appendShard appends the name of a directory with a "/".
func (g *Names) appendShard(dst []byte, shard uint64) []byte {
	if g.layout.Loader {
		return append(appendDigits(dst, shard, shardLen, 16), '/')
	}
	return append(appendDigits(dst, shard, shardLen, 10), '/')
}

// shard returns the directory of an object. Threads begin at evenly spread directories, so that few
// objects of many threads fill all directories evenly.
func (g *Names) shard(thread uint32, n uint64) uint64 {
	shards := uint64(g.layout.Shards)
	start, _ := bits.Mul64(uint64(thread)*golden, shards)
	return (start + n%shards) % shards
}

// Suffixes of names whose content does not follow from the name.
const (
	ArchiveSuffix = ".zip"
	CopySuffix    = ".copy" // a copy has the content of another object
)

// Owns reports whether Key can have made this name, with or without a suffix: it decodes thread and
// n and makes the name again.
func (g *Names) Owns(key string) bool {
	if g.layout.Loader {
		return g.made(key)
	}
	if plain, ok := strings.CutSuffix(key, ArchiveSuffix); ok {
		return g.made(plain)
	}
	return g.made(strings.TrimSuffix(key, CopySuffix))
}

func (g *Names) made(key string) bool {
	_, _, ok := g.Parse(key)
	return ok
}

// MadeBy reports whether a run with this seed can have given an object this name and the content
// that follows from it, in any layout and below any prefix of the user's.
func MadeBy(seed uint64, key string) bool {
	own := RunPrefix(seed)
	at := strings.LastIndex(key, own)
	if at < 0 || at > 0 && key[at-1] != '/' {
		return false
	}
	rest := key[at+len(own):]
	if directory, below, ok := strings.Cut(rest, "/"); ok && len(directory) > 1 && directory[0] == 'c' && decimal(directory[1:]) {
		rest = below // of one of several clients
	}
	g := Names{key: derive(seed, "names", 0)}
	for _, g.layout.Random = range []bool{false, true} {
		if g.layout.NoPrefix = false; g.made(rest) {
			return true
		}
		name := rest
		if directory, below, ok := strings.Cut(rest, "/"); ok && len(directory) == shardLen && decimal(directory) {
			name = below // of one of several shards, whose number does not affect the content
		}
		if g.layout.NoPrefix = true; g.made(name) {
			return true
		}
	}
	return false
}

func decimal(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Parse returns the arguments of Key for a name.
func (g *Names) Parse(key string) (thread uint32, n uint64, ok bool) {
	rest, ok := strings.CutPrefix(key, g.prefix)
	if !ok {
		return 0, 0, false
	}
	if g.counted() {
		n, ok = g.parseCounted(key, rest)
		return 0, n, ok
	}
	code, number := g.split(rest)
	threadBits, ok := parseBase32(code, codeLen)
	decoded := g.decode(threadBits)
	if !ok || decoded>>32 != 0 {
		return 0, 0, false
	}
	thread = uint32(decoded)
	if n, ok = g.number(number, thread); !ok {
		return 0, 0, false
	}
	var buf [128]byte
	return thread, n, string(g.AppendKey(buf[:0], thread, n)) == key
}

// number decodes n at its place in a name.
func (g *Names) number(s string, thread uint32) (n uint64, ok bool) {
	if g.layout.Random {
		v, ok := parseBase32(s, numberLen)
		return unmix(v) ^ g.threadKey(thread), ok
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// split finds the thread code and the number after the prefix. Either may be empty.
func (g *Names) split(rest string) (code, number string) {
	directory, name, nested := strings.Cut(rest, "/")
	if !nested {
		directory, name = "", rest
	}
	switch {
	case g.layout.Random && len(name) == numberLen+codeLen+longCheckLen:
		return name[numberLen : numberLen+codeLen], name[:numberLen]
	case g.threadsApart():
		number, _, _ = strings.Cut(name, ".")
		return directory, number
	}
	number, name, _ = strings.Cut(name, ".")
	return name[:min(codeLen, len(name))], number
}

func (g *Names) threadKey(thread uint32) uint64 { return g.key + golden*(uint64(thread)+1) }

func (g *Names) check(thread uint32, n uint64, width int) uint64 {
	return mix(mix(g.threadKey(thread))^n) >> (64 - width)
}

// encode is a bijection on 40 bits that depends on the seed: a Feistel network of four rounds, so
// that decode can find the thread without a table of all threads.
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

// appendDigits appends v with leading zeros, in base 10 or 16.
func appendDigits(dst []byte, v uint64, digits int, base uint64) []byte {
	at := len(dst) + digits
	for range digits {
		dst = append(dst, '0')
	}
	for ; v > 0; v /= base {
		at--
		dst[at] = "0123456789abcdef"[v%base]
	}
	return dst
}

func parseBase32(s string, chars int) (uint64, bool) {
	if len(s) != chars {
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
