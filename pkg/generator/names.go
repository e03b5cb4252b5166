package generator

import (
	"math/bits"
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

	// Of a name at random: 32 characters in all.
	numberLen    = 13 // 64 bits
	longCheckLen = 11
	shardLen     = 5
)

// RunPrefix is the prefix of all objects under a seed, such as "warp-1c3kq0x5wz8hm/". The seed's 64 bits go through
// a bijection and are all in it: a seed's prefix is repeatable, and no two seeds have the same.
func RunPrefix(seed uint64) string {
	return "warp-" + string(appendBase32(nil, mix(seed^golden), 13)) + "/"
}

// ClientPrefix is the prefix of one of several clients that were started with one seed, such as
// "warp-1c3kq0x5wz8hm/c3/". With no number of clients it is RunPrefix.
func ClientPrefix(seed uint64, client, clients int) string {
	if clients == 0 {
		return RunPrefix(seed)
	}
	return RunPrefix(seed) + "c" + strconv.Itoa(client) + "/"
}

// A Layout says how names lie below their prefix.
type Layout struct {
	NoPrefix bool // all threads directly under the prefix instead of a directory for each
	Shards   int  // spread over that many directories, which the threads share; 0 = not
	Random   bool // names of 32 characters in no order, instead of counted ones

	// Loader has names as aisloader gives them, directly under a prefix that a person chose: they have nothing of the
	// run in front of them.
	Loader bool
	Counts LoaderCounts // how it counts them, unless they are random
}

// MaxShards is as many directories as Layout.Shards can ask for: their names have five digits.
const MaxShards = 100_000

// Names makes the names of objects, and knows them again:
//
//	<prefix><thread>/<n>.<check>.rnd           n counts the objects of a thread
//	<prefix><n>.<thread><check>.rnd            with all threads directly under the prefix
//	<prefix><shard>/<n>.<thread><check>.rnd    with shards, of which a thread takes one after the other
//	…/<n'><thread><check>                      at random: n' looks like noise, and check is longer
//
// thread is a code that only the seed can tell apart from noise, so that threads spread over the key space of a
// store instead of next to each other; check is a hash of seed, thread and n. A name of somebody else would have to
// have 48 bits right by chance to be mistaken for one of these.
type Names struct {
	prefix string
	key    uint64
	layout Layout
}

// NewNames makes names that start with prefix (usually the user's, and then RunPrefix).
func NewNames(prefix string, seed uint64, layout Layout) *Names {
	return &Names{prefix: prefix, key: derive(seed, "names", 0), layout: layout}
}

// Key is the name of object n of a thread.
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

// AppendThreadPrefix appends what the names of a thread's objects start with, which is what a listing of one
// thread's objects asks for. With all threads directly under the prefix that is the prefix.
func (g *Names) AppendThreadPrefix(dst []byte, thread uint32) []byte {
	dst = append(dst, g.prefix...)
	if !g.threadsApart() {
		return dst
	}
	return append(appendBase32(dst, g.encode(uint64(thread)), codeLen), '/')
}

// threadsApart says whether each thread has a directory of its own.
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

// shard is the directory of an object. Threads begin at places that are spread evenly however many they are, so
// that few objects of many threads fill all directories alike.
func (g *Names) shard(thread uint32, n uint64) uint64 {
	shards := uint64(g.layout.Shards)
	start, _ := bits.Mul64(uint64(thread)*golden, shards)
	return (start + n%shards) % shards
}

// What may follow a name, so that nobody takes the object's content for what follows from the name.
const (
	ArchiveSuffix = ".zip"
	CopySuffix    = ".copy" // the content is another object's
)

// Owns tells whether Key can have made this name, or what a suffix makes of it: it reads thread and n back, and makes
// the name again.
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

// MadeBy tells whether a run with this seed can have given an object this name, and the content that follows from it, in whatever layout, and whatever
// prefix the user had put in front of the run's own.
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
			name = below // of one of several shards; which one of how many makes no difference to what an object contains
		}
		if g.layout.NoPrefix = true; g.made(name) {
			return true
		}
	}
	return false
}

func decimal(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Parse returns what Key was called with.
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

// number reads n back from its place in a name.
func (g *Names) number(s string, thread uint32) (n uint64, ok bool) {
	if g.layout.Random {
		v, ok := parseBase32(s, numberLen)
		return unmix(v) ^ g.threadKey(thread), ok
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// split finds thread code and number in what follows the prefix; either is empty if it is not there.
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
