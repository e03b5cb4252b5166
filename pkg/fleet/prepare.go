package fleet

import (
	"context"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
)

// A Plan is what all clients do.
type Plan struct {
	Job   protocol.Job
	Start time.Time // when to begin to measure; zero is as soon as all are ready
}

// Prepare hands out the shares and has everything made ready. The bucket is for
// the first client to make.
func (f *Fleet) Prepare(ctx context.Context, p Plan) error {
	f.mu.Lock()
	f.plan = p
	for i, l := range f.links {
		l.job = f.share(p, i)
		l.wake()
	}
	f.mu.Unlock()
	for _, links := range [][]*link{f.links[:1], f.links} {
		f.setDesired(links, func(o *protocol.DesiredState) { o.Goal = protocol.Opened })
		if err := f.awaitAll(ctx, links, protocol.Opened); err != nil {
			return err
		}
	}
	if !p.Job.NoLog {
		if err := f.makeSpools(); err != nil {
			return err
		}
	}
	f.setDesired(f.links, func(o *protocol.DesiredState) { o.Goal = protocol.Prepared })
	return f.awaitAll(ctx, f.links, protocol.Prepared)
}

// share makes the job of one client out of everybody's. Only the first one
// empties the bucket.
func (f *Fleet) share(p Plan, i int) *protocol.Job {
	l := f.links[i]
	j := p.Job
	o := &j.Options
	o.RunID, o.ClientID, o.LeaseID = f.options.Run, l.id, l.id
	o.Client, o.Clients = i, len(f.links) // so that each has names and random choices of its own
	o.ClearBucket = o.ClearBucket && i == 0
	if o.MaxErrors.IsPct {
		o.MaxErrors = bench.ErrorLimit{} // of all requests, which only the fleet knows
	}
	j.Header.ClockOffset, j.Header.Threads = int64(l.first.Ahead), uint32(o.Concurrency)
	j.Name = l.name()
	return &j
}

func (f *Fleet) makeSpools() error {
	for i, l := range f.links {
		s, err := logcopy.NewSpool(f.options.Spool(l.id))
		if err != nil {
			return err
		}
		f.mu.Lock()
		if l.spool = s; f.options.Rows != nil {
			f.follow(i)
		}
		f.mu.Unlock()
	}
	return nil
}

func (f *Fleet) awaitAll(ctx context.Context, links []*link, p protocol.Phase) error {
	due := make(map[*link]bool, len(links)) // thousands of them are looked at after every change
	for _, l := range links {
		due[l] = true
	}
	return f.await(ctx, p.String(), f.options.StepTimeout, forEvery, func(l *link) bool { return l.status.Phase >= p || !due[l] })
}
