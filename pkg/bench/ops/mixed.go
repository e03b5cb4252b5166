package ops

import (
	"context"
	"errors"

	"warp/pkg/bench"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// Mixed performs several operations on one changing pool.
type Mixed struct {
	Pool
	Get, Stat, Put, Delete float64 // shares of the requests; only their ratio counts
	// Ranges is the share of the downloads that are ranges, each of one of RangeSizes at a random place.
	Ranges     float64
	RangeSizes generator.Sizes

	shared   []sharedPool // by bucket
	versions bool         // entries are versions of objects
	total    float64
	name     func(*bench.Worker) string // of the next upload
}

// Check checks the distribution.
func (m *Mixed) Check() error {
	switch {
	case m.Get < 0 || m.Stat < 0 || m.Put < 0 || m.Delete < 0:
		return errors.New("a share of a distribution cannot be negative")
	case m.Get+m.Stat+m.Put+m.Delete <= 0:
		return errors.New("all shares of the distribution are 0: nothing would be done")
	case m.Delete > m.Put:
		return errors.New("--delete-distrib is larger than --put-distrib: the objects would run out")
	}
	return nil
}

// Prepare uploads the pool. Its uploads are not recorded, since PUT is
// measured in the run.
func (m *Mixed) Prepare(ctx context.Context, e *bench.Env) error {
	e.SetSilent(true)
	defer e.SetSilent(false)
	if err := m.Pool.Prepare(ctx, e); err != nil {
		return err
	}
	m.shared = make([]sharedPool, len(e.Buckets))
	for i, env := range e.Buckets {
		p := &m.shared[i]
		p.names, p.bucket, p.versions = env.Names, env.Bucket, m.versions
	}
	at := bucketIndexes(e)
	for i := range m.made {
		one := &m.made[i]
		if one.extra != nil && !m.versions {
			one.extra.version = ""
		}
		shared := &m.shared[at[m.bucket(i)]]
		shared.entries = append(shared.entries, one)
	}
	for i := range m.shared {
		m.shared[i].popular = newPopularity(m.Zipf, e.Seed, len(m.shared[i].entries))
	}
	m.objects = objects{}
	m.name = (*bench.Worker).NextKey
	m.total = m.Get + m.Stat + m.Put + m.Delete
	return nil
}

// Do performs one operation, chosen by the shares. If the pool has no object for it,
// Do uploads one instead.
func (m *Mixed) Do(ctx context.Context, w *bench.Worker) error {
	x := w.Rand.Float64() * m.total
	switch {
	case x < m.Get:
		return m.read(ctx, w, func(o *store.Object) error { return m.download(ctx, w, o) })
	case x < m.Get+m.Stat:
		return m.read(ctx, w, func(o *store.Object) error { return stat(ctx, w, o) })
	case x < m.Get+m.Stat+m.Put:
		return m.upload(ctx, w)
	}
	return m.remove(ctx, w)
}

// download downloads an object, or a part of it.
func (m *Mixed) download(ctx context.Context, w *bench.Worker, o *store.Object) error {
	get := store.Get{Ref: o.Ref}
	if m.Ranges > 0 && w.Rand.Float64() < m.Ranges {
		if size := m.RangeSizes.Next(w.Rand); size > 0 && size < o.Size {
			get.Offset, get.Length = w.Rand.Int64N(o.Size-size+1), size
		}
	}
	return w.Download(ctx, o, get)
}

func (m *Mixed) read(ctx context.Context, w *bench.Worker, do func(*store.Object) error) error {
	shared := &m.shared[w.Bucket]
	e := shared.acquire(w)
	if e == nil {
		return m.upload(ctx, w)
	}
	defer shared.release(e)
	obj := shared.object(e, &w.Text)
	return do(&obj)
}

func (m *Mixed) upload(ctx context.Context, w *bench.Worker) error {
	obj, err := w.Upload(ctx, m.name(w), m.Sizes.Next(w.Rand))
	if err == nil {
		m.shared[w.Bucket].add(obj)
	}
	return err
}

func (m *Mixed) remove(ctx context.Context, w *bench.Worker) error {
	shared := &m.shared[w.Bucket]
	e := shared.remove(w)
	if e == nil {
		return m.upload(ctx, w)
	}
	err := w.Delete(ctx, []store.Ref{shared.object(e, &w.Text).Ref})
	// After an error the object may or may not exist, so it is not read again.
	// Clean-up finds it.
	return err
}
