package bench

import (
	"math/rand/v2"
	"sync"
	"testing"

	"warp/pkg/generator"
	"warp/pkg/s3"
)

// Nobody may read what another is deleting, nothing may be lost.
func TestSharedPoolUnderConcurrency(t *testing.T) {
	t.Parallel()
	names := generator.NewNames("p/", 1, generator.Layout{})
	pool := sharedPool{names: names}
	key := func(e *entry) string { return pool.object(e).Key }
	var mu sync.Mutex
	alive := make(map[string]bool) // false once deletion has begun
	added, taken := 0, 0
	add := func(key string) {
		mu.Lock()
		alive[key] = true
		added++
		mu.Unlock()
		pool.add(s3.Object{Ref: s3.Ref{Key: key}})
	}
	for i := range 50 {
		add(names.Key(100, uint64(i)))
	}
	check := func(key, doing string) {
		mu.Lock()
		defer mu.Unlock()
		if !alive[key] {
			t.Errorf("%s %s, which is being deleted", doing, key)
		}
	}
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Go(func() {
			w := &Worker{ID: id, Rand: rand.New(rand.NewPCG(1, uint64(id)))}
			for i := range 2000 {
				switch i % 4 {
				case 0:
					add(names.Key(uint32(id), uint64(i)))
				case 1:
					if e := pool.take(w); e != nil {
						mu.Lock()
						taken++
						if !alive[key(e)] {
							t.Errorf("%s was taken twice", key(e))
						}
						alive[key(e)] = false
						mu.Unlock()
					}
				default:
					if e := pool.borrow(w); e != nil {
						check(key(e), "began to read")
						check(key(e), "was reading")
						pool.giveBack(e)
					}
				}
			}
		})
	}
	wg.Wait()
	if left := len(pool.entries); left != added-taken {
		t.Errorf("%d objects are left of %d added and %d taken", left, added, taken)
	}
	for _, e := range pool.entries {
		if e.readers != 0 {
			t.Errorf("%s still has %d readers", key(e), e.readers)
		}
	}
}

func TestErrorLimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		limit        ErrorLimit
		failed, sent int64
		exceeded     bool
		allows       bool
	}{
		{ErrorLimit{}, 1, 10, false, false},
		{ErrorLimit{}, 0, 10, false, true},
		{ErrorLimit{Set: true, Count: 5}, 5, 10, false, true},
		{ErrorLimit{Set: true, Count: 5}, 6, 10, true, false},
		{ErrorLimit{Set: true, Count: 0}, 1, 1, true, false},
		{ErrorLimit{Set: true, IsPct: true, Percent: 10}, 10, 100, false, true},
		{ErrorLimit{Set: true, IsPct: true, Percent: 10}, 11, 100, true, false},
		{ErrorLimit{Set: true, IsPct: true, Percent: 10}, 9, 10, false, false}, // too few to judge
	}
	for _, test := range tests {
		if got := test.limit.Exceeded(test.failed, test.sent); got != test.exceeded {
			t.Errorf("%+v exceeded by %d of %d: %v", test.limit, test.failed, test.sent, got)
		}
		if got := test.limit.Allows(test.failed, test.sent); got != test.allows {
			t.Errorf("%+v allows %d of %d: %v", test.limit, test.failed, test.sent, got)
		}
	}
}

func TestEntriesKeepWhatIsKnown(t *testing.T) {
	t.Parallel()
	names := generator.NewNames("p/", 1, generator.Layout{})
	for _, etag := range []string{"", "0123456789abcdef0123456789abcdef", "0123456789ABCDEF0123456789ABCDEF",
		"0123456789abcdef0123456789abcdef-3", "00000000000000000000000000000000", "odd", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"} {
		pool := sharedPool{names: names, bucket: "b"}
		want := s3.Object{Ref: s3.Ref{Bucket: "b", Key: names.Key(7, 99)}, Size: 1 << 40, ETag: etag}
		pool.add(want)
		got := pool.object(pool.entries[0])
		if etag == "00000000000000000000000000000000" {
			want.ETag = "" // the one that cannot be told from none; nothing is compared then
		}
		if got != want {
			t.Errorf("ETag %q: got %+v, want %+v", etag, got, want)
		}
	}
}
