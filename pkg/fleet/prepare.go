package fleet

import (
	"context"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
)

// A Plan is the work of all clients.
type Plan struct {
	Job   protocol.Job
	Start time.Time // start of the measurement; zero = as soon as all are ready
}

// Prepare sends the shares and prepares the run. The first client makes the
// bucket.
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

// share returns the job of one client. Only the first one empties the bucket.
func (f *Fleet) share(p Plan, i int) *protocol.Job {
	l := f.links[i]
	j := p.Job
	o := &j.Options
	o.RunID, o.ClientID, o.LeaseID = f.options.Run, l.id, l.id
	o.Client, o.Clients = i, len(f.links) // gives each client its own names and random numbers
	o.ClearBucket = o.ClearBucket && i == 0
	if o.MaxErrors.IsPct {
		o.MaxErrors = bench.ErrorLimit{} // the limit counts all requests, which only the fleet sees
	}
	j.Header.ClockOffset, j.Header.ClockError, j.Header.Threads = int64(l.first.Ahead), int64(l.first.RoundTrip/2), uint32(o.Concurrency)
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
	due := make(map[*link]bool, len(links)) // a map, because every change looks up thousands of them
	for _, l := range links {
		due[l] = true
	}
	return f.await(ctx, p.String(), f.options.StepTimeout, forEvery, func(l *link) bool { return l.status.Phase >= p || !due[l] })
}
