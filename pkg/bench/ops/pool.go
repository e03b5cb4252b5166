// Package ops holds the operations of the benchmarks, one file each. Most of them work
// on a [Pool] of objects, and send their requests with the methods of a [bench.Worker].
package ops

import (
	"context"
	"errors"
	"fmt"

	"warp/pkg/bench"

	"warp/internal/human"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/store"
)

// A Pool is the set of objects that an operation works on. They are uploaded by
// the preparation or found in the bucket.
type Pool struct {
	Objects      int // number of objects; with ListExisting the maximum, 0 = all
	Sizes        generator.Sizes
	Versions     int    // versions of each object
	ListExisting bool   // use the objects in the bucket
	ListFlat     bool   // without descending into prefixes
	Prefix       string // with ListExisting
	// Kept is the number of objects, versions included, that another process keeps below [bench.Env.ObjectsPrefix] for this
	// client; 0 = none. It goes with ListExisting.
	Kept int
	Keys []string // of objects in the bucket, instead of a listing
	// Together means that Objects is the number of all clients together, as in the load of a profile.
	Together bool
	// Clients is the number of clients that share the objects in the bucket, and
	// Client the number of this one.
	Client, Clients int
	Unique          bool // all objects equally often, in passes of random order
	Epochs          int  // ends the run after that many passes; 0 = does not
	// Zipf is the exponent of the distribution by which objects are chosen, without Unique; 0 = all alike.
	Zipf float64
	// Requested are the sizes that requests should have if they choose by Zipf; nil = the objects have Sizes.
	Requested []SizeShare

	objects
	shares []share // by bucket
}

// A share is the part of the pool in one bucket, for the workers of that bucket.
type share struct {
	of      []int // numbers of the objects; nil = all
	count   int
	order   *order
	popular *popularity // nil = all objects alike
}

func (s *share) index(i int) int {
	if s.of == nil {
		return i
	}
	return s.of[i]
}

// Prepare fills the pool.
func (p *Pool) Prepare(ctx context.Context, e *bench.Env) error {
	var err error
	switch {
	case p.Keys != nil && len(e.Buckets) > 1:
		err = errors.New("prepare: names from a file need a single bucket")
	case p.Objects > 0 && p.Objects < len(e.Buckets):
		err = fmt.Errorf("prepare: %d objects are too few for %d buckets", p.Objects, len(e.Buckets))
	case p.Keys != nil:
		err = p.statKeys(ctx, e)
	case p.ListExisting:
		err = p.list(ctx, e)
	default:
		err = p.upload(ctx, e)
	}
	if err == nil && (p.Keys != nil || p.ListExisting) {
		err = canVerifyFound(ctx, e, p.found)
	}
	if err == nil {
		p.divide(e)
	}
	return err
}

// divide sorts the objects by bucket.
func (p *Pool) divide(e *bench.Env) {
	p.shares = make([]share, max(len(e.Buckets), 1))
	if len(p.shares) == 1 {
		p.shares[0].count = p.count()
	} else {
		at := bucketIndexes(e)
		for i := range p.count() {
			s := &p.shares[at[p.bucket(i)]]
			s.of = append(s.of, i)
			s.count++
		}
	}
	for i := range p.shares {
		s := &p.shares[i]
		s.order = &order{seed: e.Seed, stream: e.Stream, objects: s.count, epochs: p.Epochs}
		s.popular = newPopularity(p.Zipf, e.ObjectsSeed, s.count)
	}
}

func (p *Pool) upload(ctx context.Context, e *bench.Env) error {
	versions := max(p.Versions, 1)
	e.Progress.Begin("Preparing: uploading", int64(p.Objects*versions))
	defer e.Progress.End()
	p.names, p.made = e.Names, make([]entry, p.Objects*versions)
	for _, env := range e.Buckets {
		p.buckets = append(p.buckets, env.Bucket)
	}
	p.planSizes(e, versions)
	return e.Spread(ctx, p.Objects, func(ctx context.Context, w *bench.Worker, i int) error {
		key, size := w.NextKey(), p.made[i*versions].size
		for v := range versions {
			obj, err := uploadRetried(ctx, w, key, size)
			if err != nil {
				return err
			}
			if versions > 1 && obj.VersionID == "" {
				return fmt.Errorf("prepare: the store gave no version id for %s: it does not support --versions", key)
			}
			p.made[i*versions+v] = newEntry(p.names, &obj, obj.VersionID)
			e.Progress.Add(1)
			e.Progress.Moved(size)
		}
		if i == 0 { // before more is uploaded for nothing
			first := p.get(0, &w.Text)
			return canVerify(ctx, w, &first)
		}
		return nil
	})
}

// planSizes draws all sizes from one stream, so that they depend only on the seed.
// They are kept with the first version of each object.
func (p *Pool) planSizes(e *bench.Env, versions int) {
	if p.Requested != nil {
		for i, size := range requestedSizes(p.Requested, p.Zipf, e.ObjectsSeed, p.Objects) {
			p.made[i*versions].size = size
		}
		return
	}
	r := generator.Rand(e.Seed, "sizes", e.Stream)
	for i := range p.Objects {
		p.made[i*versions].size = p.Sizes.Next(r)
	}
}

// list finds objects, about equally many in each bucket.
func (p *Pool) list(ctx context.Context, e *bench.Env) error {
	e.Progress.Begin("Preparing: listing", int64(p.Objects))
	defer e.Progress.End()
	for i, env := range e.Buckets {
		n := len(e.Buckets)
		if err := p.listOne(ctx, env, (p.Objects+n-1-i)/n); err != nil {
			return err
		}
	}
	if p.Kept > 0 && len(p.found) != p.Kept {
		return fmt.Errorf("prepare: there are %s under prefix %q instead of %d", human.Plural(len(p.found), "object"), e.ObjectsPrefix, p.Kept)
	}
	return nil
}

// listOne finds objects in one bucket: up to limit, or all if Objects is 0.
func (p *Pool) listOne(ctx context.Context, e *bench.Env, limit int) error {
	before, prefix := len(p.found), p.Prefix
	if p.Kept > 0 {
		prefix = e.ObjectsPrefix
	}
	l := store.List{Bucket: e.Bucket, Prefix: prefix, Flat: p.ListFlat, Versions: p.Versions > 1}
	var perKey map[string]int
	begin := func() { p.found, perKey = p.found[:before], make(map[string]int) }
	err := e.Client.List(ctx, l, begin, func(o store.Object) bool {
		if o.IsPrefix || o.DeleteMarker || lease.IsMarker(o.Key) || !p.mine(o.Key) {
			return true
		}
		if p.Versions > 1 {
			if perKey[o.Key]++; perKey[o.Key] > p.Versions {
				return true
			}
		}
		p.found = append(p.found, o)
		e.Progress.Add(1)
		return p.Objects == 0 || len(p.found)-before < limit
	})
	if err != nil {
		return fmt.Errorf("prepare: list bucket %s: %w", e.Bucket, err)
	}
	if len(p.found) == before && p.Clients > 0 {
		return fmt.Errorf("prepare: no object under prefix %q of bucket %s belongs to client %d: use fewer clients", prefix, e.Bucket, p.Client)
	}
	if len(p.found) == before {
		return fmt.Errorf("prepare: bucket %s has no objects under prefix %q to work on", e.Bucket, prefix)
	}
	return nil
}

// pick selects the object of the next request, in the worker's bucket. After the last
// pass it continues with another bucket, so that all workers end at the same time. It
// returns bench.ErrDone when all buckets are done.
func (p *Pool) pick(w *bench.Worker) (*store.Object, error) {
	if !p.Unique {
		s := &p.shares[w.Bucket]
		return p.at(s.index(s.popular.pick(w, s.count)), w), nil
	}
	for k := range p.shares {
		s := &p.shares[(w.Bucket+k)%len(p.shares)]
		if i, ok := s.order.next(); ok {
			return p.at(s.index(i), w), nil
		}
	}
	if p.Epochs == 1 {
		return nil, bench.Done("the one pass of --epochs over " + human.Plural(p.count(), "object") + " was made")
	}
	return nil, bench.Done(fmt.Sprintf("all %d passes of --epochs over %s were made", p.Epochs, human.Plural(p.count(), "object")))
}

// at returns object i for the worker's next request.
func (p *Pool) at(i int, w *bench.Worker) *store.Object {
	w.Picked = p.get(i, &w.Text)
	return &w.Picked
}

// mine reports whether an object in the bucket belongs to this client. This depends
// only on its name, so clients agree even while some of them already delete.
func (p *Pool) mine(key string) bool {
	return p.Clients == 0 || generator.PayloadID(key)%uint64(p.Clients) == uint64(p.Client)
}

// statKeys looks up the objects of Keys instead of listing them.
func (p *Pool) statKeys(ctx context.Context, e *bench.Env) error {
	var keys []string
	for _, key := range p.Keys {
		if p.mine(key) && (p.Objects == 0 || len(keys) < p.Objects) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("prepare: none of the names belongs to client %d: use fewer clients", p.Client)
	}
	e.Progress.Begin("Preparing: looking for the objects", int64(len(keys)))
	defer e.Progress.End()
	e.SetSilent(true)
	defer e.SetSilent(false)
	p.found = make([]store.Object, len(keys))
	return e.Spread(ctx, len(keys), func(ctx context.Context, w *bench.Worker, i int) error {
		ref := store.Ref{Bucket: e.Bucket, Key: keys[i]}
		e.Progress.Add(1)
		return w.Retry(ctx, "find "+keys[i], func() error {
			return w.Measure(ctx, "STAT", keys[i], func(ctx context.Context, r *bench.Request) (err error) {
				p.found[i], err = r.Stat(ctx, ref, r.Trace)
				p.found[i].Ref = ref // without a version, as in a listing
				return err
			})
		})
	})
}

// ShareAmong divides the objects among several clients: those in the bucket, and with Together also those that are
// uploaded. It changes nothing for other uploaded objects and for kept ones, which belong to one client.
func (p *Pool) ShareAmong(client, clients int) {
	if p.Together && p.Objects > 0 {
		p.Objects, p.Together = PartOf(p.Objects, client, clients), false
	}
	if p.ListExisting && p.Kept == 0 || p.Keys != nil {
		p.Client, p.Clients = client, clients
	}
}

// PartOf returns how many of n objects belong to a client: at least one.
func PartOf(n, client, clients int) int {
	return max((n+clients-1-client)/clients, 1)
}

// uploadRetried uploads an object for the preparation. Failures are recorded like
// any others, and the upload is repeated.
func uploadRetried(ctx context.Context, w *bench.Worker, key string, size int64) (obj store.Object, err error) {
	err = w.Retry(ctx, "upload "+key, func() error {
		obj, err = w.Upload(ctx, key, size)
		return err
	})
	return obj, err
}

// bucketIndexes returns the index of each bucket.
func bucketIndexes(e *bench.Env) map[string]int {
	at := make(map[string]int, len(e.Buckets))
	for i, b := range e.Buckets {
		at[b.Bucket] = i
	}
	return at
}
