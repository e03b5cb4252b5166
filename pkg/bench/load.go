package bench

import (
	"runtime"
	"runtime/debug"
	"time"

	"warp/pkg/oplog"
)

// A loadMeter measures what a run costs the client itself.
type loadMeter struct {
	start time.Time
	cpu   time.Duration
	pause time.Duration
}

func startLoadMeter() *loadMeter {
	return &loadMeter{start: time.Now(), cpu: cpuTime(), pause: gcPauses()}
}

func (m *loadMeter) stop(lag time.Duration) *oplog.Load {
	return &oplog.Load{
		CPUSeconds:  (cpuTime() - m.cpu).Seconds(),
		WallSeconds: time.Since(m.start).Seconds(),
		Cores:       float64(runtime.GOMAXPROCS(0)),
		MaxRSSBytes: maxRSS(),
		GCPauseS:    (gcPauses() - m.pause).Seconds(),
		LagMaxS:     lag.Seconds(),
	}
}

func gcPauses() time.Duration {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return s.PauseTotal
}
