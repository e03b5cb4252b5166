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

var layouts = []Layout{
	{}, {NoPrefix: true}, {Shards: 1}, {Shards: 7}, {Shards: MaxShards},
	{Random: true}, {Random: true, NoPrefix: true}, {Random: true, Shards: 10},
}

func TestNamesOwnsItsKeys(t *testing.T) {
	t.Parallel()
	for _, layout := range layouts {
		for _, prefix := range []string{"", "some/where/" + RunPrefix(7)} {
			g := NewNames(prefix, 7, layout)
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
	for _, layout := range layouts {
		g := NewNames("p/", 7, layout)
		key := g.Key(3, 45)
		foreign := []string{
			"", "p/", "p", key[1:], key + "x", "/" + key, strings.ToUpper(key), strings.Replace(key, "45", "045", 1),
			strings.Replace(key, "45", "+45", 1), strings.Replace(key, "45", "46", 1), strings.Replace(key, "45", "", 1),
			"p/x/" + key[2:], strings.TrimSuffix(key, ".rnd"), "p/45.rnd", "p/data.csv", "p/a/45.b.rnd",
			NewNames("p/", 8, layout).Key(3, 45), NewNames("q/", 7, layout).Key(3, 45),
		}
		for i := range key {
			foreign = append(foreign, key[:i], key[:i]+"z"+key[i+1:], key[:i]+"\x00"+key[i:])
		}
		for _, other := range foreign {
			if other != key && g.Owns(other) {
				t.Errorf("%+v: %q is taken for our own", layout, other)
			}
		}
	}
}

func TestMadeBy(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"", "a/", "a/" + RunPrefix(7), "a/" + RunPrefix(8), "00003/"} {
		for _, prefix := range []string{RunPrefix(7), ClientPrefix(7, 3, 12)} {
			for _, layout := range layouts {
				key := NewNames(user+prefix, 7, layout).Key(3, 45)
				if !MadeBy(7, key) {
					t.Errorf("%q is not known again", key)
				}
				for _, other := range []string{key + "x", key[:len(key)-5], strings.Replace(key, "45.", "46.", 1), user + "data.csv", ""} {
					if other != key && MadeBy(7, other) {
						t.Errorf("%q is taken for a name of the seed", other)
					}
				}
				if MadeBy(8, key) {
					t.Errorf("%q is taken for one of another seed", key)
				}
			}
		}
	}
	if key := "x" + RunPrefix(7) + NewNames("", 7, Layout{}).Key(3, 45); MadeBy(7, key) {
		t.Errorf("%q has a prefix that no run makes", key)
	}
}

func TestNamesAreDistinct(t *testing.T) {
	t.Parallel()
	for _, layout := range layouts {
		g := NewNames("", 1, layout)
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

// No layout accepts the names of another, unless they are the same.
func TestLayoutsAreApart(t *testing.T) {
	t.Parallel()
	for _, a := range layouts {
		for _, b := range layouts {
			key, own := NewNames("p/", 7, b).Key(3, 45), NewNames("p/", 7, a)
			if key != own.Key(3, 45) && own.Owns(key) {
				t.Errorf("%+v takes %q of %+v for its own", a, key, b)
			}
		}
	}
}

func TestShardsFillEvenly(t *testing.T) {
	t.Parallel()
	const shards, threads, each = 100, 20, 50
	g := NewNames("", 7, Layout{Shards: shards})
	count := map[string]int{}
	for thread := range uint32(threads) {
		for n := range uint64(each) {
			directory, _, _ := strings.Cut(g.Key(thread, n), "/")
			count[directory]++
		}
	}
	if len(count) != shards {
		t.Errorf("%d of %d directories have objects", len(count), shards)
	}
	for directory, n := range count {
		if n < threads*each/shards/2 || n > threads*each/shards*2 {
			t.Errorf("%s has %d objects", directory, n)
		}
	}
}

func TestNamesAtRandom(t *testing.T) {
	t.Parallel()
	g := NewNames("", 7, Layout{Random: true, NoPrefix: true})
	first := map[byte]int{}
	for n := range uint64(1600) {
		key := g.Key(1, n)
		if len(key) != 32 {
			t.Fatalf("%q has %d characters", key, len(key))
		}
		first[key[0]]++
	}
	for c, n := range first {
		if len(first) != 16 || n < 50 || n > 150 {
			t.Errorf("%d of 1600 names start with %c, of %d letters", n, c, len(first))
		}
	}
}

// Clients that are started manually with the same seed have names that only they recognize.
func TestNamesOfClientsAreDisjoint(t *testing.T) {
	t.Parallel()
	for _, layout := range layouts {
		seen := map[string]int{}
		var all []*Names
		for client := range 20 {
			all = append(all, NewNames(ClientPrefix(7, client, 20), 7, layout))
		}
		all = append(all, NewNames(RunPrefix(7), 7, layout))
		for i, g := range all {
			for thread := range uint32(4) {
				for n := range uint64(20) {
					key := g.Key(thread, n)
					if other, ok := seen[key]; ok {
						t.Fatalf("clients %d and %d have both %q", i, other, key)
					}
					seen[key] = i
					for j, other := range all {
						if other.Owns(key) != (i == j) {
							t.Fatalf("%q of client %d, client %d owns it: %v", key, i, j, i != j)
						}
					}
				}
			}
		}
	}
}

func TestUnmix(t *testing.T) {
	t.Parallel()
	for x := uint64(1); x < 1<<63; x = x*3 + 1 {
		if unmix(mix(x)) != x || mix(unmix(x)) != x {
			t.Fatalf("%x", x)
		}
	}
}

// A seed makes names and prefixes repeatable, so they must not change between versions.
func TestNamesAreRepeatable(t *testing.T) {
	t.Parallel()
	got := []string{RunPrefix(1), NewNames("x/", 1, Layout{}).Key(2, 3), NewNames("x/", 1, Layout{NoPrefix: true}).Key(2, 3),
		ClientPrefix(1, 3, 4), NewNames("x/", 1, Layout{Shards: 10}).Key(2, 3), NewNames("x/", 1, Layout{Random: true}).Key(2, 3)}
	for i, want := range []string{"warp-e9pbhewdpab10/", "x/swqayxza/3.6aqrzr4j.rnd", "x/3.swqayxza6aqrzr4j.rnd",
		"warp-e9pbhewdpab10/c3/", "x/00005/3.swqayxza6aqrzr4j.rnd", "x/swqayxza/fbdeyjps638fvswqayxza6aqrzr4jskw"} {
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
	g := NewNames("prefix/", 1, Layout{})
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
	names := []*Names{NewNames("", 1, Layout{}), NewNames("", 1, Layout{NoPrefix: true}), NewNames("p/", 1, Layout{}), NewNames("p/", 1, Layout{NoPrefix: true}),
		NewNames("p/", 1, Layout{Shards: 10}), NewNames("p/", 1, Layout{Random: true})}
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
	g := NewNames("prefix/"+RunPrefix(1), 1, Layout{})
	buf := make([]byte, 0, 128)
	for n := uint64(0); b.Loop(); n++ {
		buf = g.AppendKey(buf[:0], 7, n)
	}
}
