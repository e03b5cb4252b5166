package hostload

import (
	"slices"
	"strings"
	"testing"
)

func TestLimitsNameWhatWasTheLimit(t *testing.T) {
	t.Parallel()
	fine := Load{CPUSeconds: 5, WallSeconds: 10, Cores: 4, Connections: 40, LinkShare: 0.5, Link: "eth0", GCPauseS: 0.1, GoSchedS: 0.001}
	tests := map[string]struct {
		change func(*Load)
		want   string // part of the only note; "" = none
	}{
		"fine":             {func(*Load) {}, ""},
		"cpu":              {func(l *Load) { l.CPUSeconds = 34 }, "85 % of the available CPU"},
		"just below":       {func(l *Load) { l.CPUSeconds = 33.9 }, ""},
		"fewer cores":      {func(l *Load) { l.Cores = 0.5 }, "100 % of the available CPU"},
		"busy machine":     {func(l *Load) { l.CPUSeconds, l.CPUWaitS = 20, 15 }, "waited for more"},
		"busy, little use": {func(l *Load) { l.CPUSeconds, l.CPUWaitS = 0.7, 3 }, "waited for a core in 81 % of the time"},
		"neighbours":       {func(l *Load) { l.CPUWaitS, l.IdleShare = 10, 0.1 }, "in 67 % of the time"},
		"own threads":      {func(l *Load) { l.CPUWaitS = 9.9 }, ""},
		"slow to wake up":  {func(l *Load) { l.CPUWaitS, l.IdleShare = 35, 0.6 }, ""},
		"one core":         {func(l *Load) { l.Cores, l.CPUSeconds, l.CPUWaitS, l.IdleShare = 1, 5.6, 5.3, 0.3 }, ""},
		"a neighbour each": {func(l *Load) { l.CPUSeconds, l.CPUWaitS = 20, 20 }, "used 50 % of the available CPU time while"},
		"wait of unknown":  {func(l *Load) { l.CPUSeconds, l.CPUWaitS = 0, 1 }, ""},
		"link":             {func(l *Load) { l.LinkShare = 0.95 }, "eth0 ran at 95 %"},
		"pauses":           {func(l *Load) { l.GCPauseS = 0.5 }, "5 % of the time"},
		"waits":            {func(l *Load) { l.GoSchedS = 0.02 }, "waited 20 ms or more"},
		"waits, no core":   {func(l *Load) { l.CPUSeconds, l.GoSchedS = 34, 0.02 }, "85 % of the available CPU"},
		"pacing":           {func(l *Load) { l.PacingLagS = 0.0081 }, "sent 8.1 ms late"},
		"good pacing":      {func(l *Load) { l.PacingLagS = 0.0009 }, ""},
		"recorder":         {func(l *Load) { l.LagMaxS = 1.5 }, "1.5 s behind"},
		"connections":      {func(l *Load) { l.Connections = 5000 }, "5000 connections"},
		"short run":        {func(l *Load) { l.WallSeconds, l.CPUSeconds = 0.4, 1.6 }, ""},
		"few connections":  {func(l *Load) { l.Connections = 200 }, ""},
		"no load at all":   {func(l *Load) { *l = Load{WallSeconds: 10, Cores: 1} }, ""},
		"several, one out": {func(l *Load) { l.LinkShare = 0.89 }, ""},
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
			if len(got) != 1 || !strings.Contains(got[0], test.want) || IsLimit(got[0]) == (name == "connections") {
				t.Errorf("notes %q, want one with %q", got, test.want)
			}
		})
	}
}

// If the number of concurrent requests is unlimited, warp itself opens the connections.
func TestLimitsOfUnbounded(t *testing.T) {
	t.Parallel()
	many := Load{WallSeconds: 10, Cores: 4, Connections: 528}
	if got := Limits(&many, 500, true); len(got) != 0 {
		t.Errorf("notes %q, want none", got)
	}
	if got := Limits(&many, 500, false); len(got) != 1 {
		t.Errorf("notes %q, want one", got)
	}
}

// A disk is to blame for a late log only if there was enough CPU time to write it.
func TestLateRecording(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		load Load
		disk bool
	}{
		"enough CPU time":    {Load{CPUSeconds: 2}, true},
		"all of it used":     {Load{CPUSeconds: 9}, false},
		"others used it":     {Load{CPUSeconds: 1, CPUWaitS: 8}, false},
		"goroutines waited":  {Load{CPUSeconds: 2, GoSchedS: .02}, false},
		"the cores had time": {Load{CPUSeconds: 1, CPUWaitS: 8, IdleShare: .5}, true},
	} {
		l := test.load
		l.WallSeconds, l.Cores, l.LagMaxS = 10, 1, 1.5
		notes := Limits(&l, 1000, false)
		if last := notes[len(notes)-1]; !strings.Contains(last, "1.5 s behind") || strings.Contains(last, "disk") != test.disk || strings.Contains(last, "CPU time") == test.disk {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

func TestJoinNotes(t *testing.T) {
	t.Parallel()
	limits := func(change func(*Load)) []string {
		l := Load{WallSeconds: 10, Cores: 1}
		change(&l)
		return Limits(&l, 1000, false)
	}
	of := func(cpu float64) []string { return limits(func(l *Load) { l.CPUSeconds = cpu }) }
	link := func(name string, share float64) []string {
		return limits(func(l *Load) { l.Link, l.LinkShare = name, share })
	}
	got := JoinNotes(slices.Concat(of(9), link("eth7", 0.91), []string{"slow", "slower"}, of(10), link("eth1", 0.95), of(8.5), []string{suspicion + "alas"}))
	want := []string{of(10)[0] + " (the worst of 3 clients that say so)", link("eth1", 0.95)[0] + " (the worst of 2 clients that say so)", "slow", "slower", suspicion + "alas"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
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
