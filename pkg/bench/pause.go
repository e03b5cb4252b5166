package bench

import (
	"time"

	"warp/pkg/oplog"
)

// minPause is more than a goroutine that only waits for a tick is ever late while
// the process runs.
const minPause = time.Second

// maxPauses limits the size of the trailer.
const maxPauses = 100

// pauses are the times in which the process did not run.
type pauses struct{ all []oplog.Pause }

// A wait is the begin of waiting for a tick. It excludes what the collector did
// before, such as a slow write to a disk.
type wait struct {
	at    time.Time
	sleep time.Duration
}

func startWait() wait { return wait{time.Now(), suspended()} }

// note is called when the tick has come. It returns how long the process did not
// run since the begin of the wait.
func (p *pauses) note(w wait) time.Duration {
	return p.add(w.at, time.Since(w.at), suspended()-w.sleep)
}

// add keeps the wait if it was longer than any tick takes, and returns how much of
// the pause the monotonic clock saw, which stands still on a suspended machine.
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
