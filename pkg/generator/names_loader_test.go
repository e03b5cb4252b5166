package generator

import (
	"strings"
	"testing"
)

// The names equal those in aisloader's documentation and tests for the same ids.
func TestLoaderCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		counts LoaderCounts
		shards int
		prefix string
		want   string // of objects 0, 1, 2 and 1999
	}{
		{CountsOfLoader(11, 20), 0, "aisloader/", "aisloader/b aisloader/10b aisloader/20b aisloader/7cf0b"},
		{CountsOfLoader(10, 20), 0, "", "a 10a 20a 7cf0a"},
		{CountsOfLoader(0, 1), 0, "", "0 10 20 7cf0"},
		{CountsOfLoader(15, 16), 0, "", "f 1f 2f 7cff"},
		{CountsOfLoader(16, 17), 0, "", "10 110 210 7cf10"},
		{CountsOfLoader(255, 257), 0, "", "ff 10ff 20ff 7cf0ff"},
		{CountsOfNamedLoader("loaderstring", 8), 0, "", "db 1db 2db 7cfdb"},
		{CountsOfNamedLoader("loaderstring", 5), 0, "", "db 1db 2db 7cfdb"},
		{LoaderCounts{}, 0, "", "0 1 2 7cf"},
		{LoaderCounts{}, 1000, "a/b/", "a/b/00001/0 a/b/00002/1 a/b/00003/2 a/b/003e8/7cf"},
	} {
		if tt.shards == 1000 {
			tt.want = strings.Replace(tt.want, "003e8", "00000", 1) // 2000 modulo 1000
		}
		names := NewNames(tt.prefix, 1, Layout{Loader: true, Counts: tt.counts, Shards: tt.shards})
		var got []string
		for _, n := range []uint64{0, 1, 2, 1999} {
			key := names.Key(7, n)
			got = append(got, key)
			if thread, back, ok := names.Parse(key); !ok || back != n || thread != 0 || !names.Owns(key) {
				t.Errorf("Parse(%q) = %d, %d, %t", key, thread, back, ok)
			}
		}
		if all := strings.Join(got, " "); all != tt.want {
			t.Errorf("%+v: %s, want %s", tt.counts, all, tt.want)
		}
	}
}

// Owns rejects names that no loader with that id can have written.
func TestLoaderOwns(t *testing.T) {
	t.Parallel()
	names := NewNames("d/", 1, Layout{Loader: true, Counts: CountsOfLoader(11, 20)})
	for _, key := range []string{"d/10a", "d/010b", "d/10B", "d/+b", "d/10b.zip", "d/10b.copy", "10b", "d/x/10b", "d/", "d/b/", "d/1000000000000000b0b"} {
		if names.Owns(key) {
			t.Errorf("%q is the loader's", key)
		}
	}
	sharded := NewNames("", 1, Layout{Loader: true, Shards: 300})
	for key, want := range map[string]bool{"00001/0": true, "00002/0": false, "1/0": false, "0": false, "0012b/12a": true, "00000/12b": true} {
		if sharded.Owns(key) != want {
			t.Errorf("%q: %t", key, !want)
		}
	}
}

func TestLoadersOverlap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b LoaderCounts
		want bool
	}{
		{CountsOfLoader(1, 20), CountsOfLoader(2, 20), false},
		{CountsOfLoader(1, 20), CountsOfLoader(1, 20), true},
		{CountsOfLoader(1, 10), CountsOfLoader(17, 20), true}, // 11 is object 1 of the first and object 0 of the second
		{CountsOfLoader(2, 10), CountsOfLoader(17, 20), false},
		{LoaderCounts{}, CountsOfLoader(17, 20), true},
	} {
		if tt.a.Overlap(tt.b) != tt.want || tt.b.Overlap(tt.a) != tt.want {
			t.Errorf("%+v and %+v: want %t", tt.a, tt.b, tt.want)
		}
	}
}

// Random names have 32 characters, in directories of five hexadecimal digits, and are recognized.
func TestRandomLoaderNames(t *testing.T) {
	t.Parallel()
	names := NewNames("sub/", 5, Layout{Loader: true, Random: true, Shards: 100})
	other := NewNames("sub/", 6, Layout{Loader: true, Random: true, Shards: 100})
	for n := range uint64(200) {
		key := names.Key(3, n)
		parts := strings.Split(key, "/")
		if len(parts) != 3 || parts[0] != "sub" || len(parts[1]) != 5 || strings.Trim(parts[1], "0123456789abcdef") != "" || len(parts[2]) != 32 {
			t.Fatal(key)
		}
		if thread, back, ok := names.Parse(key); !ok || thread != 3 || back != n || other.Owns(key) || names.Owns(key+".zip") {
			t.Fatalf("%s: %d %d %t", key, thread, back, ok)
		}
	}
}
