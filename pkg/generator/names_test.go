package generator

import (
	"math"
	"strings"
	"testing"
)

var nameCases = []struct {
	thread uint32
	n      uint64
}{{0, 0}, {0, 1}, {1, 0}, {19, 123456}, {math.MaxUint32, math.MaxUint64}}

func TestNamesOwnsItsKeys(t *testing.T) {
	t.Parallel()
	for _, noPrefix := range []bool{false, true} {
		for _, prefix := range []string{"", "some/where/" + RunPrefix(7)} {
			g := NewNames(prefix, 7, noPrefix)
			for _, c := range nameCases {
				key := g.Key(c.thread, c.n)
				thread, n, ok := g.Parse(key)
				if !ok || thread != c.thread || n != c.n {
					t.Errorf("Parse(%q) = %d, %d, %v, want %v", key, thread, n, ok, c)
				}
				if !strings.HasPrefix(key, string(g.AppendThreadPrefix(nil, c.thread))) {
					t.Errorf("%q does not start with its thread's prefix", key)
				}
				if strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-") != "" {
					t.Errorf("%q has characters that are not safe everywhere", key)
				}
			}
		}
	}
}

func TestNamesRefusesForeignKeys(t *testing.T) {
	t.Parallel()
	for _, noPrefix := range []bool{false, true} {
		g := NewNames("p/", 7, noPrefix)
		key := g.Key(3, 45)
		foreign := []string{
			"", "p/", "p", key[1:], key + "x", "/" + key, strings.ToUpper(key), strings.Replace(key, "45", "045", 1),
			strings.Replace(key, "45", "+45", 1), strings.Replace(key, "45", "46", 1), strings.Replace(key, "45", "", 1),
			"p/x/" + key[2:], strings.TrimSuffix(key, ".rnd"), "p/45.rnd", "p/data.csv", "p/a/45.b.rnd",
			NewNames("p/", 8, noPrefix).Key(3, 45), NewNames("p/", 7, !noPrefix).Key(3, 45),
			NewNames("q/", 7, noPrefix).Key(3, 45),
		}
		for i := range key {
			foreign = append(foreign, key[:i], key[:i]+"z"+key[i+1:], key[:i]+"\x00"+key[i:])
		}
		for _, other := range foreign {
			if other != key && g.Owns(other) {
				t.Errorf("noprefix %v: %q is taken for our own", noPrefix, other)
			}
		}
	}
}

func TestNamesAreDistinct(t *testing.T) {
	t.Parallel()
	for _, noPrefix := range []bool{false, true} {
		g := NewNames("", 1, noPrefix)
		seen := map[string]bool{}
		ids := map[uint64]bool{}
		for thread := range uint32(100) {
			for n := range uint64(100) {
				key := g.Key(thread, n)
				if seen[key] || ids[PayloadID(key)] {
					t.Fatalf("%q or its payload exists already", key)
				}
				seen[key], ids[PayloadID(key)] = true, true
			}
		}
	}
}

// Names and prefixes are what a seed makes repeatable, so they must not change between versions.
func TestNamesAreRepeatable(t *testing.T) {
	t.Parallel()
	got := []string{RunPrefix(1), NewNames("x/", 1, false).Key(2, 3), NewNames("x/", 1, true).Key(2, 3)}
	for i, want := range []string{"warp-e9pbhewdpab10/", "x/swqayxza/3.6aqrzr4j.rnd", "x/3.swqayxza6aqrzr4j.rnd"} {
		if got[i] != want {
			t.Errorf("name %d is %q, want %q", i, got[i], want)
		}
	}
}

func TestRunPrefixIsAnInjection(t *testing.T) {
	t.Parallel()
	seen := map[string]uint64{}
	for i := range uint64(1 << 16) {
		for _, seed := range []uint64{i, i << 48} {
			prefix := RunPrefix(seed)
			if other, ok := seen[prefix]; ok && other != seed {
				t.Fatalf("seeds %d and %d share %q", seed, other, prefix)
			}
			seen[prefix] = seed
		}
	}
}

func TestAppendKeyDoesNotAllocate(t *testing.T) {
	g := NewNames("prefix/", 1, false)
	buf := make([]byte, 0, 128)
	key := g.Key(1, 2)
	if n := testing.AllocsPerRun(100, func() { buf = g.AppendKey(buf[:0], 5, 123456) }); n != 0 {
		t.Errorf("AppendKey allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { g.Owns(key) }); n != 0 {
		t.Errorf("Owns allocates %v times", n)
	}
}

func FuzzOwns(f *testing.F) {
	names := []*Names{NewNames("", 1, false), NewNames("", 1, true), NewNames("p/", 1, false), NewNames("p/", 1, true)}
	for _, g := range names {
		for _, c := range nameCases {
			f.Add(g.Key(c.thread, c.n))
		}
	}
	f.Add("p/0.rnd")
	f.Add("p/00000000/0.00000000.rnd")
	f.Fuzz(func(t *testing.T, key string) {
		for _, g := range names {
			if thread, n, ok := g.Parse(key); ok && g.Key(thread, n) != key {
				t.Fatalf("%q is taken for object %d of thread %d, which is %q", key, n, thread, g.Key(thread, n))
			}
		}
	})
}

func BenchmarkAppendKey(b *testing.B) {
	g := NewNames("prefix/"+RunPrefix(1), 1, false)
	buf := make([]byte, 0, 128)
	for n := uint64(0); b.Loop(); n++ {
		buf = g.AppendKey(buf[:0], 7, n)
	}
}
