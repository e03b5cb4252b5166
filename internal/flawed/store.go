// Package flawed contains an S3 store in memory that is linearizable, and variants of it that break
// one promise each, or only seem to. It tests whether warp consistency finds what is broken, and
// blames nothing else. It has what warp needs of S3: objects with user metadata, ranges, listings with
// pages, uploads in parts, and conditions of all writes. Signatures are not checked.
//
// Bookkeeping, below ".warp/", is never broken, so that a run can begin and end.
package flawed

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Store is an S3 store with several hosts.
type Store struct {
	// Hosts are the addresses to connect to, host:port each.
	Hosts []string

	flaw    Flaw
	lag     time.Duration // for how long old versions are kept
	started time.Time
	servers []*http.Server
	ended   context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	calls, shown, writes atomic.Uint64

	mu      sync.Mutex // guards the map
	buckets map[string]*bucket
}

// Start starts a store on free ports of loopback.
func Start(f Flaw, hosts int) (*Store, error) {
	if !slices.ContainsFunc(Kinds(), func(k Kind) bool { return k.Flaw == f }) {
		return nil, fmt.Errorf("unknown flaw %q", f)
	}
	s := &Store{flaw: f, started: time.Now(), buckets: make(map[string]*bucket)}
	s.lag = map[Flaw]time.Duration{StaleHost: hostLag, StaleRanges: hostLag, StaleListings: listLag}[f]
	s.ended, s.end = context.WithCancel(context.Background())
	for i := range hosts {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.Close()
			return nil, err
		}
		server := &http.Server{Handler: host{s, f == StaleHost && i == hosts-1}, ReadHeaderTimeout: time.Minute}
		s.Hosts, s.servers = append(s.Hosts, l.Addr().String()), append(s.servers, server)
		s.running.Go(func() { _ = server.Serve(l) })
	}
	return s, nil
}

// Close stops the store and waits for its goroutines.
func (s *Store) Close() {
	s.end()
	for _, server := range s.servers {
		server.Close()
	}
	s.running.Wait()
}

// Shown returns how often the flaw has shown.
func (s *Store) Shown() uint64 { return s.shown.Load() }

// Writes returns how many uploads and deletions of objects were acknowledged.
func (s *Store) Writes() uint64 { return s.writes.Load() }

// A bucket contains objects. Its lock makes each request one step.
type bucket struct {
	mu      sync.Mutex
	records map[string]*record
	names   []string // of the records, sorted
	uploads map[string]*upload
}

// A record is the history of an object.
type record struct {
	now     *version // nil = there is no object
	past    []replaced
	preview *version // the parts of an upload that is not completed

	lastPart *version // of the last completed upload of several parts, for MixedParts
}

// A replaced version, oldest first.
type replaced struct {
	*version // nil = there was no object
	until    time.Time
}

// A version of an object does not change.
type version struct {
	body     []byte
	etag     string // with quotes
	modified time.Time
	header   http.Header // user metadata and type
}

// An upload is one in parts.
type upload struct {
	key    string
	header http.Header
	begun  time.Time
	parts  map[int]*version
}

func newVersion(body []byte, header http.Header) *version {
	sum := md5.Sum(body)
	return &version{body, `"` + hex.EncodeToString(sum[:]) + `"`, time.Now(), header}
}

// at returns the version that was current at a time.
func (r *record) at(t time.Time) *version {
	for _, old := range r.past {
		if old.until.After(t) {
			return old.version
		}
	}
	return r.now
}

func (s *Store) bucket(name string) *bucket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buckets[name]
}

// record returns the record of a key, and makes one if there is none.
func (b *bucket) record(key string) *record {
	r := b.records[key]
	if r == nil {
		r = new(record)
		key = strings.Clone(key)
		b.records[key] = r
		i, _ := slices.BinarySearch(b.names, key)
		b.names = slices.Insert(b.names, i, key)
	}
	return r
}

// set makes v the current version; nil deletes the object.
func (s *Store) set(b *bucket, key string, v *version) {
	if v == nil && b.records[key] == nil {
		return
	}
	r := b.record(key)
	if s.lag > 0 {
		now := time.Now()
		r.past = slices.DeleteFunc(r.past, func(old replaced) bool { return now.Sub(old.until) > s.lag })
		r.past = append(r.past, replaced{r.now, now})
	}
	if r.now = v; v == nil && s.lag == 0 && r.preview == nil {
		b.forget(key)
	}
}

func (b *bucket) forget(key string) {
	delete(b.records, key)
	if i, found := slices.BinarySearch(b.names, key); found {
		b.names = slices.Delete(b.names, i, i+1)
	}
}

// A condition of a request, from its headers.
type condition struct {
	match, noneMatch string
	chars            int // of an ETag that are compared; 0 = all
}

func conditionOf(r *http.Request) condition {
	return condition{match: r.Header.Get("If-Match"), noneMatch: r.Header.Get("If-None-Match")}
}

func (c condition) given() bool { return c != condition{} }

// check returns the refusal of a write whose condition does not hold for the current version.
func (c condition) check(now *version) *answer {
	switch {
	case c.match != "" && now == nil:
		return refusal(http.StatusNotFound, "NoSuchKey")
	case c.match != "" && !sameETag(c.match, now.etag, c.chars),
		c.noneMatch != "" && now != nil && (c.noneMatch == "*" || sameETag(c.noneMatch, now.etag, 0)):
		return refusal(http.StatusPreconditionFailed, "PreconditionFailed")
	}
	return nil
}

// sameETag reports whether two ETags are the same, or their first characters if their number is not 0.
func sameETag(a, b string, chars int) bool {
	a, b = strings.Trim(a, `"`), strings.Trim(b, `"`)
	if chars > 0 {
		a, b = a[:min(chars, len(a))], b[:min(chars, len(b))]
	}
	return a == b
}

// current returns the current version of an object. The bucket is locked.
func (b *bucket) current(key string) *version {
	if r := b.records[key]; r != nil {
		return r.now
	}
	return nil
}

// write makes v the current version of an object, or deletes it if v is nil, if the condition holds.
// then, if not nil, is called within the same step; only completions have it.
func (s *Store) write(b *bucket, key string, v *version, c condition, then func()) *answer {
	own := spared(key)
	if !own && c.given() {
		switch {
		case s.does(Conflicts):
			return refusal(http.StatusConflict, "ConditionalRequestConflict")
		case s.does(UnknownRequests):
			return refusal(http.StatusNotImplemented, "NotImplemented")
		case s.does(IgnoredConditions):
			c = condition{}
		case s.flaw == SimilarETags:
			c.chars = comparedChars
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if refused := c.check(b.current(key)); refused != nil {
		return refused
	}
	if now := b.current(key); c.chars > 0 && c.match != "" && !sameETag(c.match, now.etag, 0) {
		s.shown.Add(1)
	}
	if !own && c.given() && s.does(LateWrites) {
		b.mu.Unlock()
		time.Sleep(checkToWrite)
		b.mu.Lock()
	}
	if then != nil {
		then()
	}
	switch {
	case own:
	case v != nil && s.happens(LostWrites, lostOneIn), v == nil && s.happens(SkippedDeletions, skippedOneIn):
		return nil
	case then != nil && b.current(key) != nil && s.does(LostCompletions):
		return nil
	case v != nil && s.overwriteSlowly(b, key, v):
		return nil
	}
	s.set(b, key, v)
	return nil
}

// overwriteSlowly shows the first half of v together with the second half of the current version for a
// while. It reports whether it has. The bucket is locked before and after.
func (s *Store) overwriteSlowly(b *bucket, key string, v *version) bool {
	old := b.current(key)
	if old == nil || len(old.body) != len(v.body) || len(v.body) < 2 || !s.does(MixedBodies) {
		return false
	}
	half := len(v.body) / 2
	mixed := *v
	mixed.body = append(slices.Clone(v.body[:half]), old.body[half:]...)
	s.set(b, key, &mixed)
	b.mu.Unlock()
	time.Sleep(overwriting)
	b.mu.Lock()
	if b.current(key) == &mixed { // and not a later write
		s.set(b, key, v)
	}
	return true
}

// read returns the version of an object that a reader sees; nil = there is none.
func (s *Store) read(b *bucket, key string, stale bool) *version {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.records[key]
	switch {
	case r == nil:
		return nil
	case stale && !spared(key):
		old := r.at(time.Now().Add(-hostLag))
		if old != r.now {
			s.shown.Add(1)
		}
		return old
	case r.preview != nil:
		return r.preview
	}
	return r.now
}

// show makes the parts of an upload readable, or hides them if u is nil.
func (s *Store) show(b *bucket, key string, u *upload) {
	if s.flaw != EarlyParts {
		return
	}
	if u == nil {
		if r := b.records[key]; r != nil {
			if r.preview = nil; r.now == nil {
				b.forget(key)
			}
		}
		return
	}
	s.shown.Add(1)
	b.record(key).preview = u.join(u.numbers())
}

// numbers returns the numbers of the parts, in order.
func (u *upload) numbers() []int {
	return slices.Sorted(maps.Keys(u.parts))
}

// join returns the object that consists of some parts.
func (u *upload) join(numbers []int) *version {
	sums := md5.New()
	var body []byte
	for _, n := range numbers {
		body = append(body, u.parts[n].body...)
		sum, _ := hex.DecodeString(strings.Trim(u.parts[n].etag, `"`))
		sums.Write(sum)
	}
	v := &version{body: body, modified: time.Now(), header: u.header}
	v.etag = `"` + hex.EncodeToString(sums.Sum(nil)) + "-" + strconv.Itoa(len(numbers)) + `"`
	return v
}

// spared reports whether an object is of warp's bookkeeping.
func spared(key string) bool { return strings.HasPrefix(key, ".warp/") }
