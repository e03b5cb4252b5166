package s3mem

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"

	"github.com/johannesboyne/gofakes3"
)

// The index agrees with a map through random insertions and removals, in order and out of it.
func TestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x index
	ref := map[string]*object{}
	for step := range 60_000 {
		key := fmt.Sprintf("k%05d", rng.IntN(9000))
		if step < 5000 {
			key = fmt.Sprintf("k%05d", step)
		}
		if step > 5000 && rng.IntN(3) == 0 {
			if got := x.remove(key); got != ref[key] {
				t.Fatalf("removing %s gave %v, want %v", key, got, ref[key])
			}
			delete(ref, key)
			continue
		}
		o := &object{key: key}
		if got := x.set(o); got != ref[key] {
			t.Fatalf("setting %s replaced %v, want %v", key, got, ref[key])
		}
		ref[key] = o
	}
	keys := make([]string, 0, len(ref))
	for k, o := range ref {
		keys = append(keys, k)
		if x.get(k) != o {
			t.Fatalf("%s is not found", k)
		}
	}
	slices.Sort(keys)
	var got []string
	for c := x.seek(""); c.object() != nil; c.next() {
		got = append(got, c.object().key)
	}
	if !slices.Equal(got, keys) || x.n != len(keys) {
		t.Errorf("%d keys in order, %d counted; want %d", len(got), x.n, len(keys))
	}
	for _, k := range keys {
		x.remove(k)
	}
	if x.n != 0 || len(x.chunks) != 0 || x.seek("k").object() != nil {
		t.Errorf("%d objects in %d chunks are left", x.n, len(x.chunks))
	}
}

// Every page size gives the same listing as a simple implementation, with and without delimiter and
// prefix.
func TestListPages(t *testing.T) {
	b := newBackend(&memory{limit: 1 << 30})
	b.CreateBucket("b")
	rng := rand.New(rand.NewPCG(3, 4))
	parts := []string{"", "a", "a/", "b/c/", "ü/", "\xff/", "/", "a.", "a0"}
	var keys []string
	for range 300 {
		key := parts[rng.IntN(len(parts))] + parts[rng.IntN(len(parts))] + fmt.Sprint(rng.IntN(50))
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		b.PutObject("b", key, nil, strings.NewReader("x"), 1, nil)
	}
	slices.Sort(keys)
	for _, prefix := range []string{"", "a", "a/", "b/c", "ü", "\xff", "none"} {
		for _, delimiter := range []string{"", "/", "c/", "\xff"} {
			want := straightList(keys, prefix, delimiter)
			for _, size := range []int64{1, 2, 3, 7, 50, 1000} {
				if got := pagedList(t, b, prefix, delimiter, size); !slices.Equal(got, want) {
					t.Fatalf("prefix %q, delimiter %q, pages of %d:\n%q\nwant\n%q", prefix, delimiter, size, got, want)
				}
			}
		}
	}
}

func straightList(keys []string, prefix, delimiter string) (out []string) {
	for _, k := range keys {
		rest, ok := strings.CutPrefix(k, prefix)
		if !ok {
			continue
		}
		if i := strings.Index(rest, delimiter); delimiter != "" && i >= 0 {
			k = prefix + rest[:i] + delimiter
		}
		if len(out) == 0 || out[len(out)-1] != k {
			out = append(out, k)
		}
	}
	return out
}

func pagedList(t *testing.T, b *backend, prefix, delimiter string, size int64) (out []string) {
	t.Helper()
	page := gofakes3.ListBucketPage{MaxKeys: size}
	for {
		p := gofakes3.NewPrefix(&prefix, &delimiter)
		list, err := b.ListBucket("b", &p, page)
		check.OK(t, err)
		var items []string
		for _, c := range list.Contents {
			items = append(items, c.Key)
		}
		for _, c := range list.CommonPrefixes {
			items = append(items, c.Prefix)
		}
		slices.Sort(items)
		if int64(len(items)) > size || list.IsTruncated && int64(len(items)) < size {
			t.Fatalf("a page of %d, truncated %v; want %d", len(items), list.IsTruncated, size)
		}
		out = append(out, items...)
		if !list.IsTruncated {
			return out
		}
		page.Marker, page.HasMarker = list.NextMarker, true
	}
}

func FuzzChunkReader(f *testing.F) {
	f.Add("3;chunk-signature=x\r\nabc\r\n0;chunk-signature=y\r\n\r\n")
	f.Add("3\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n")
	f.Add("ffffffffffffffff\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		r := newChunkReader(strings.NewReader(in))
		var buf [64]byte
		total := 0
		for range 10_000 {
			n, err := r.Read(buf[:])
			total += n
			if err != nil {
				break
			}
		}
		if total > len(in) {
			t.Errorf("%d bytes out of %d", total, len(in))
		}
	})
}
