package aggregate

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/pkg/oplog"
)

// simulate returns how many downloads that started in the window a cache serves that evicts the least recently used object, and
// their bytes.
func simulate(rows []oplog.Record, w oplog.Window, size int64) (hits, all, served, bytes uint64) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b oplog.Record) int { return cmp.Compare(a.Start, b.Start) })
	type object struct {
		key  string
		size int64
	}
	var cache []object // the most recently used last
	sizes := map[string]int64{}
	for _, r := range rows {
		if r.Err != "" || r.Op == "STAT" {
			continue
		}
		i := slices.IndexFunc(cache, func(o object) bool { return o.key == r.Key })
		x := object{r.Key, max(sizes[r.Key], r.Bytes)} // it may be a range
		if i >= 0 {
			cache = slices.Delete(cache, i, i+1)
		}
		switch r.Op {
		case "DELETE":
			delete(sizes, r.Key)
			continue
		case "PUT":
			x.size = r.Bytes
		case "GET":
			if r.Start >= w.Begin && r.Start <= w.End {
				all, bytes = all+1, bytes+uint64(r.Bytes)
				if i >= 0 {
					hits, served = hits+1, served+uint64(r.Bytes)
				}
			}
		}
		sizes[r.Key] = x.size
		used := x.size
		for _, o := range cache {
			used += o.size
		}
		for ; used > size && len(cache) > 0; cache = cache[1:] {
			used -= cache[0].size
		}
		if used <= size {
			cache = append(cache, x)
		}
	}
	return hits, all, served, bytes
}

// The report says what a simulated cache serves: with the uploads of the preparation, deletions, ranges and failed requests.
func TestCache(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var rows []oplog.Record
	add := func(op, key string, at float64, bytes int64) *oplog.Record {
		rows = append(rows, oplog.Record{Op: op, Key: key, Thread: uint32(r.IntN(4)), Objects: 1, Bytes: bytes,
			Start: int64(1e18 + at*1e9), Duration: time.Duration(r.ExpFloat64() * 1e8)})
		return &rows[len(rows)-1]
	}
	sizes := map[string]int64{}
	upload := func(at float64, i int) {
		key := fmt.Sprint("object", i)
		sizes[key] = 1 + r.Int64N(1000)
		add("PUT", key, at, sizes[key])
	}
	for i := range 200 {
		upload(float64(i)/20, i)
	}
	w := oplog.Window{Start: 1e18 + 11e9, Begin: 1e18 + 13e9, End: 1e18 + 60e9}
	for i := range 5000 {
		at := 11 + float64(i)/100
		key := fmt.Sprint("object", int(250*r.Float64()*r.Float64()))
		size, there := sizes[key]
		switch x := r.Float64(); {
		case !there:
			add("GET", key, at, 0).Err = "NoSuchKey: there is none"
		case x < .7:
			add("GET", key, at, size)
		case x < .8:
			add("GET", key, at, size/2)
		case x < .85:
			add("STAT", key, at, 0)
		case x < .9:
			add("DELETE", key, at, 0)
			delete(sizes, key)
		default:
			upload(at, 200+r.IntN(50))
		}
	}
	slices.SortStableFunc(rows, func(a, b oplog.Record) int { return cmp.Compare(a.End(), b.End()) })
	for _, size := range []int64{500, 5000, 20_000, 60_000, 1 << 30} {
		report := analyzeLog(t, windowed(rows, w), Options{Cache: size})
		hits, all, served, bytes := simulate(rows, w, size)
		got := report.Cache
		if got == nil || got.Size != size || got.Requests != all || got.Bytes != bytes || got.Sampled != 1 || got.RequestsError != 0 || got.BytesError != 0 {
			t.Fatalf("%d bytes: %+v, want %d downloads of %d bytes", size, got, all, bytes)
		}
		if want := 1 - float64(all-hits)/float64(all); got.RequestsShare != want {
			t.Errorf("%d bytes: %v of the downloads, want %v", size, got.RequestsShare, want)
		}
		if want := 1 - float64(bytes-served)/float64(bytes); got.BytesShare != want {
			t.Errorf("%d bytes: %v of the bytes, want %v", size, got.BytesShare, want)
		}
	}
}

// Versions of an object are different data, and rows do not name them.
func TestCacheOfVersions(t *testing.T) {
	t.Parallel()
	rows := []oplog.Record{{Op: "GET", Key: "a", Start: 1e18, Duration: 1, Bytes: 5, Objects: 1}}
	log := windowed(rows, oplog.Window{Start: 1e18, Begin: 1e18, End: 2e18})
	log.header.Parameters = map[string]string{"versions": "4"}
	if r := analyzeLog(t, log, Options{Cache: 100}); r.Cache != nil || !strings.Contains(strings.Join(r.Warnings, " "), "--cache: the log does not say which versions") {
		t.Errorf("%+v, %q", r.Cache, r.Warnings)
	}
}

func TestCacheWithoutDownloads(t *testing.T) {
	t.Parallel()
	rows := []oplog.Record{{Op: "PUT", Key: "a", Start: 1e18, Duration: 1, Bytes: 5, Objects: 1}}
	r := analyze(t, rows, Options{Cache: 100})
	if r.Cache != nil || !strings.Contains(strings.Join(r.Warnings, " "), "--cache: no download") {
		t.Errorf("%+v, %q", r.Cache, r.Warnings)
	}
	if r := analyze(t, rows, Options{}); r.Cache != nil || len(r.Warnings) > 0 && strings.Contains(r.Warnings[0], "cache") {
		t.Errorf("%+v, %q", r.Cache, r.Warnings)
	}
}
