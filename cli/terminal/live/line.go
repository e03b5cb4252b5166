package live

import (
	"fmt"
	"time"

	"warp/internal/human"
	"warp/pkg/monitor"
)

// A Line is the progress of an operation if nothing is drawn in place: as
// JSON, or as text.
type Line struct {
	Elapsed  float64 `json:"elapsed_s"`
	Op       string  `json:"op"`
	Requests uint64  `json:"requests"`
	Errors   uint64  `json:"errors"`
	MiB      float64 `json:"mib_per_s"`
	Objects  float64 `json:"objects_per_s"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`

	text string
}

// NewLine returns the line about op so long after the start.
func NewLine(op monitor.Op, elapsed time.Duration) Line {
	return Line{
		Elapsed: human.Thousandths(elapsed.Seconds()), Op: op.Op, Requests: op.Requests, Errors: op.Errors,
		MiB: human.Thousandths(op.Current.Bytes / (1 << 20)), Objects: human.Thousandths(op.Current.Objects),
		P50: human.Thousandths(op.P50.Seconds() * 1000), P99: human.Thousandths(op.P99.Seconds() * 1000),
		text: fmt.Sprintf("%s %s: %d requests, %d errors, p50 %s, p99 %s; now %.1f MiB/s, %s obj/s",
			elapsed.Round(time.Second), op.Op, op.Requests, op.Errors,
			latency(op.P50), latency(op.P99), op.Current.Bytes/(1<<20), rate(op.Current.Objects)),
	}
}

func (l Line) String() string { return l.text }
