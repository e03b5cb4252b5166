package recording

import (
	"time"

	"warp/pkg/oplog"
)

// minPause is longer than any delay of a goroutine that only waits for a tick while
// the process runs.
const minPause = time.Second

// maxPauses limits the size of the trailer.
const maxPauses = 100

// pauses are the times in which the process did not run.
type pauses struct{ all []oplog.Pause }

// A tickWait is a wait for a tick. It excludes the work of the collector before it,
// such as a slow write to a disk.
type tickWait struct {
	from      time.Time
	suspended time.Duration // see suspended, at from
}

func startWait() tickWait { return tickWait{time.Now(), suspended()} }

// addWait is called at the tick. It returns how long the process did not run since
// the wait began.
func (p *pauses) addWait(w tickWait) time.Duration {
	return p.add(w.from, time.Since(w.from), suspended()-w.suspended)
}

// add keeps a wait that was longer than any tick takes. It returns the part of the
// pause that the monotonic clock counted, which stops on a suspended machine.
func (p *pauses) add(at time.Time, awake, asleep time.Duration) time.Duration {
	took := awake + asleep - sweepInterval
	if took < minPause {
		return 0
	}
	if len(p.all) < maxPauses {
		p.all = append(p.all, oplog.Pause{At: at.UTC(), Seconds: took.Seconds()})
	}
	return min(took, awake)
}

// inside returns the pauses that overlap the window.
func (p *pauses) inside(from, to time.Time) (in []oplog.Pause) {
	for _, one := range p.all {
		over := one.At.Add(time.Duration(one.Seconds * float64(time.Second)))
		if over.After(from) && one.At.Before(to) {
			in = append(in, one)
		}
	}
	return in
}
