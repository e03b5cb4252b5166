package hostload

import (
	"strings"
	"testing"

	"warp/pkg/oplog"
)

func TestLimitsNameWhatWasTheLimit(t *testing.T) {
	t.Parallel()
	fine := oplog.Load{CPUSeconds: 5, WallSeconds: 10, Cores: 4, Connections: 40, LinkShare: 0.5, Link: "eth0", GCPauseS: 0.1, SchedP99S: 0.001}
	tests := map[string]struct {
		change func(*oplog.Load)
		want   string // part of the only note; "" = none
	}{
		"fine":             {func(*oplog.Load) {}, ""},
		"cpu":              {func(l *oplog.Load) { l.CPUSeconds = 34 }, "85 % of the CPU"},
		"just below":       {func(l *oplog.Load) { l.CPUSeconds = 33.9 }, ""},
		"fewer cores":      {func(l *oplog.Load) { l.Cores = 0.5 }, "100 % of the CPU"},
		"busy machine":     {func(l *oplog.Load) { l.CPUSeconds, l.CPUWaitS = 20, 15 }, "waited for more"},
		"idle, waiting":    {func(l *oplog.Load) { l.CPUWaitS = 35 }, ""},
		"link":             {func(l *oplog.Load) { l.LinkShare = 0.95 }, "eth0 ran at 95 %"},
		"pauses":           {func(l *oplog.Load) { l.GCPauseS = 0.5 }, "5 % of the time"},
		"waits":            {func(l *oplog.Load) { l.SchedP99S = 0.02 }, "waited up to 20 ms"},
		"pacing":           {func(l *oplog.Load) { l.PacingLagS = 0.0081 }, "sent 8.1 ms late"},
		"good pacing":      {func(l *oplog.Load) { l.PacingLagS = 0.0009 }, ""},
		"recorder":         {func(l *oplog.Load) { l.LagMaxS = 1.5 }, "1.5 s behind"},
		"connections":      {func(l *oplog.Load) { l.Connections = 5000 }, "5000 connections"},
		"short run":        {func(l *oplog.Load) { l.WallSeconds, l.CPUSeconds = 0.4, 1.6 }, ""},
		"few connections":  {func(l *oplog.Load) { l.Connections = 200 }, ""},
		"no load at all":   {func(l *oplog.Load) { *l = oplog.Load{WallSeconds: 10, Cores: 1} }, ""},
		"several, one out": {func(l *oplog.Load) { l.LinkShare = 0.89 }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := fine
			test.change(&l)
			got := Limits(&l, 10_000, false)
			if test.want == "" {
				if len(got) != 0 {
					t.Errorf("notes %q, want none", got)
				}
				return
			}
			if len(got) != 1 || !strings.Contains(got[0], test.want) || strings.Contains(got[0], "not the store's") == (name == "connections") {
				t.Errorf("notes %q, want one with %q", got, test.want)
			}
		})
	}
}

// Where nothing bounds the requests at a time, it is warp that opens connections.
func TestLimitsOfUnbounded(t *testing.T) {
	t.Parallel()
	many := oplog.Load{WallSeconds: 10, Cores: 4, Connections: 528}
	if got := Limits(&many, 500, true); len(got) != 0 {
		t.Errorf("notes %q, want none", got)
	}
	if got := Limits(&many, 500, false); len(got) != 1 {
		t.Errorf("notes %q, want one", got)
	}
}

func TestHistogramDifference(t *testing.T) {
	t.Parallel()
	borders := []float64{0, 1, 2, 4}
	before := histogram{[]uint64{5, 0, 1}, borders}
	after := histogram{[]uint64{104, 0, 2}, borders}
	d := after.since(before)
	if got := d.quantile(0.99); got != 1 {
		t.Errorf("99 %% %g, want 1", got)
	}
	if got := d.quantile(1); got != 4 {
		t.Errorf("maximum %g, want 4", got)
	}
	if got := (histogram{}).quantile(0.5); got != 0 {
		t.Errorf("quantile of nothing %g", got)
	}
}
