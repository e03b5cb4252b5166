package doctest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/cli/session/plan"
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/compare"
	"warp/pkg/find"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/s3mem"
	"warp/pkg/sweep"
	"warp/pkg/workload"
)

// sections maps the sections of docs/json-fields.md to types.
func sections() map[string]reflect.Type {
	return map[string]reflect.Type{
		"Report":                 reflect.TypeFor[results.Report](),
		"Identity":               reflect.TypeFor[oplog.Workload](),
		"Conditions":             reflect.TypeFor[results.Conditions](),
		"Client load":            reflect.TypeFor[hostload.Load](),
		"Client":                 reflect.TypeFor[results.ClientVerdict](),
		"Client figure":          reflect.TypeFor[results.ClientFigure](),
		"Cut off":                reflect.TypeFor[oplog.CutOff](),
		"Picks":                  reflect.TypeFor[oplog.Picks](),
		"Cache":                  reflect.TypeFor[results.Cache](),
		"Pause":                  reflect.TypeFor[oplog.Pause](),
		"Replay":                 reflect.TypeFor[results.Replay](),
		"Not sent":               reflect.TypeFor[oplog.NotSent](),
		"Consistency":            reflect.TypeFor[results.Consistency](),
		"Property":               reflect.TypeFor[results.ConsistencyProperty](),
		"Violation":              reflect.TypeFor[results.Violation](),
		"Request of a violation": reflect.TypeFor[results.HistoryEvent](),
		"Mark":                   reflect.TypeFor[results.MarkReport](),
		"Mark phase":             reflect.TypeFor[results.MarkPhase](),
		"Outside of the window":  reflect.TypeFor[results.Outside](),
		"Flight":                 reflect.TypeFor[results.Flight](),
		"Group":                  reflect.TypeFor[results.GroupReport](),
		"Operation":              reflect.TypeFor[results.Operation](),
		"First error":            reflect.TypeFor[results.FirstError](),
		"Amount per request":     reflect.TypeFor[results.SizeRange](),
		"Durations":              reflect.TypeFor[results.Stats](),
		"HTTP phases":            reflect.TypeFor[results.Phases](),
		"Part":                   reflect.TypeFor[results.Part](),
		"Segment":                reflect.TypeFor[results.Segment](),
		"Durations of a segment": reflect.TypeFor[results.SegmentStats](),
		"Heat map":               reflect.TypeFor[results.HeatMap](),
		"Slow request":           reflect.TypeFor[results.SlowRequest](),
		"Extremes":               reflect.TypeFor[results.Extremes](),
		"Accesses":               reflect.TypeFor[results.Accesses](),
		"Size class":             reflect.TypeFor[results.SizeClass](),
		"Speed":                  reflect.TypeFor[results.Speed](),
		"Stability":              reflect.TypeFor[results.Stability](),
		"Outlier":                reflect.TypeFor[results.Outlier](),
		"Assertion":              reflect.TypeFor[results.Assertion](),
		"Comparison":             reflect.TypeFor[compare.Changes](),
		"Side":                   reflect.TypeFor[compare.Compared](),
		"Parameter":              reflect.TypeFor[compare.Parameter](),
		"Changed operation":      reflect.TypeFor[compare.OpChange](),
		"Change":                 reflect.TypeFor[compare.Change](),
		"Changed durations":      reflect.TypeFor[compare.StatsChange](),
		"Changed rate":           reflect.TypeFor[compare.RateChange](),
		"Changed metric":         reflect.TypeFor[compare.MetricChange](),
		"Verdicts":               reflect.TypeFor[compare.Verdicts](),
		"Comparisons":            reflect.TypeFor[compare.Comparisons](),
		"History":                reflect.TypeFor[compare.History](),
		"Workload":               reflect.TypeFor[compare.Workload](),
		"Past run":               reflect.TypeFor[compare.PastRun](),
		"Series":                 reflect.TypeFor[compare.Series](),
		"Stretch":                reflect.TypeFor[compare.Stretch](),
		"Change point":           reflect.TypeFor[compare.ChangePoint](),
		"Set of runs":            reflect.TypeFor[compare.Side](),
		"Subject":                reflect.TypeFor[compare.Subject](),
		"Judged metric":          reflect.TypeFor[compare.Row](),
		"Sample":                 reflect.TypeFor[compare.Sample](),
		"Look":                   reflect.TypeFor[compare.Look](),
		"Sequence":               reflect.TypeFor[compare.Sequence](),
		"Trend":                  reflect.TypeFor[compare.Trend](),

		"Profile":            reflect.TypeFor[workload.Profile](),
		"Lines":              reflect.TypeFor[workload.Lines](),
		"Profiled operation": reflect.TypeFor[workload.Operation](),
		"Failed requests":    reflect.TypeFor[workload.Status](),
		"Sizes":              reflect.TypeFor[workload.SizeBucket](),
		"Ranges":             reflect.TypeFor[workload.Ranges](),
		"Popularity":         reflect.TypeFor[workload.Popularity](),
		"Arrivals":           reflect.TypeFor[workload.Arrivals](),
		"Dispersion":         reflect.TypeFor[workload.Dispersion](),
		"Reuse":              reflect.TypeFor[workload.Reuse](),
		"Cache of a profile": reflect.TypeFor[workload.Cache](),

		"Sweep":                  reflect.TypeFor[sweep.Result](),
		"Axis":                   reflect.TypeFor[sweep.Axis](),
		"Failed run":             reflect.TypeFor[sweep.Failure](),
		"Metric of a sweep":      reflect.TypeFor[sweep.Metric](),
		"Point of a sweep":       reflect.TypeFor[sweep.Point](),
		"Figure of a point":      reflect.TypeFor[sweep.Cell](),
		"First point once more":  reflect.TypeFor[sweep.Again](),
		"Drift":                  reflect.TypeFor[sweep.Drift](),
		"Conclusion":             reflect.TypeFor[sweep.Conclusion](),
		"Level":                  reflect.TypeFor[sweep.Level](),
		"Law":                    reflect.TypeFor[sweep.Law](),
		"Search":                 reflect.TypeFor[find.Report](),
		"Step of a search":       reflect.TypeFor[find.Point](),
		"Value of a step":        reflect.TypeFor[find.Figure](),
		"Compared searches":      reflect.TypeFor[find.Change](),
		"Compared sweeps":        reflect.TypeFor[sweep.Comparison](),
		"Change over all points": reflect.TypeFor[sweep.Overall](),
		"Change at a point":      reflect.TypeFor[sweep.PointChange](),

		"Planned cost":     reflect.TypeFor[plan.Cost](),
		"Planned requests": reflect.TypeFor[plan.OfKind](),

		"Averaged durations":         reflect.TypeFor[results.AveragedStats](),
		"Changed averaged durations": reflect.TypeFor[compare.AveragedChange](),
	}
}

// ownSections are lines that only the command line makes; real output shows their fields.
var ownSections = []string{"Merged log", "Exported file", "Set mark", "Calibration", "Calibration point", "Cleaned bucket", "Cleaned run", "Planned run", "Progress line", "Phase line",
	"Script", "Script settings", "Statement", "Statement figures", "Statement times", "Statement line"}

// notHere lists fields that appear only with a real network, on a busy machine, in a run that lasts, or with hundreds of
// thousands of objects.
var notHere = []string{"Operation.one_object_bytes_per_s", "Mark.relapse_s", "Mark.noise", "Group.wire_ms", "Client.figures", "Client.clients", "Client.reasons", "Client figure.op", "Client figure.figure", "Client figure.ms",
	"Client figure.wire_ms", "Client figure.client_share", "Stability.outliers", "Outlier.start", "Outlier.distance", "Verdicts.unfinished",
	"Client load.link", "Client load.link_share", "Accesses.sampled", "Point of a sweep.left_out", "Figure of a point.client", "Level.p99_is_the_clients",
	"Search.estimate", "Search.held", "Search.notes", "Step of a search.repeated", "Step of a search.client",
	"Popularity.hottest_error", "Law.alpha", "Law.beta", "Law.gamma", "Law.peak_concurrency", "Law.peak_throughput", "Law.error", "Law.error_percent"}

// A sighting collects the fields in real documents, by section.
type sighting map[string]map[string]bool

func (s sighting) note(section, field string) {
	if s[section] == nil {
		s[section] = map[string]bool{}
	}
	s[section][field] = true
}

// document walks a real document along its type.
func (s sighting) document(t *testing.T, text string, typ reflect.Type) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in\n%.500s", err, text)
	}
	followsSchema(t, value, typ)
	s.walk(t, value, typ)
}

func (s sighting) walk(t *testing.T, value any, typ reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			s.walk(t, e, typ.Elem())
		}
	case map[string]any:
		if typ.Kind() == reflect.Map {
			for _, e := range v {
				s.walk(t, e, typ.Elem())
			}
			return
		}
		section := ""
		for name, known := range sections() {
			if known == typ {
				section = name
			}
		}
		if section == "" {
			t.Fatalf("no section of docs/json-fields.md is about %v", typ)
		}
		names := fields(typ)
		for k, e := range v {
			s.note(section, k)
			i := slices.Index(names, k)
			if i < 0 {
				t.Errorf("%s has the field %q, which its type does not", section, k)
				continue
			}
			if e != nil {
				s.walk(t, e, typ.Field(i).Type)
			}
		}
	}
}

// fieldsIn are the fields of a JSON object.
func (s sighting) object(t *testing.T, section, text string) {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for k := range object {
		s.note(section, k)
	}
}

// twoHosts returns a host that is a store and one that refuses connections.
func twoHosts(t *testing.T) string {
	t.Helper()
	store, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 256 << 20})
	check.OK(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store.Addr() + "," + teststore.FreeAddress(t)
}

// troubledLog writes the log of an open loop with two operations that was paused for a while, had a
// request without an answer, and was interrupted.
func troubledLog(t *testing.T, path string) {
	t.Helper()
	w, err := oplog.Create(path, oplog.Header{Warp: "test", Windowed: true})
	check.OK(t, err)
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	window := oplog.Window{Start: at.UnixNano(), Begin: at.Add(time.Second).UnixNano(), End: at.Add(10 * time.Second).UnixNano()}
	rows := make([]oplog.Record, 50)
	for i := range rows {
		start := at.Add(time.Duration(1+i) * 50 * time.Millisecond).UnixNano()
		rows[i] = oplog.Record{Op: "GET", Objects: 1, Bytes: 1, Endpoint: "http://127.0.0.1:9000", Start: start, Due: start, Duration: 1e6}
		if i%4 == 1 {
			rows[i].Op = "STAT"
		}
	}
	rows[0].Err, rows[len(rows)-1].Err = "SlowDown: later", "DrainTimeout: no answer"
	trailer := oplog.Trailer{
		End: "interrupted", Window: &window, CutOff: &oplog.CutOff{Count: 1, LongestS: 2}, Pauses: []oplog.Pause{{At: at, Seconds: 2}},
		UnsentWaits: &oplog.Unsent{Count: 3, FirstDue: at.Add(5 * time.Second), Interval: 1e9, Until: at.Add(12 * time.Second)},
	}
	write := func(err error) {
		check.OK(t, err)
	}
	write(w.SetWindow(window))
	write(w.AddMark(oplog.Mark{At: at.Add(1500 * time.Millisecond).UnixNano(), Text: "disk pulled"}))
	write(w.Write(rows))
	_, err = w.Commit(trailer)
	write(err)
}

// setMark returns the output of warp mark for a run.
func setMark(t *testing.T, dir string) string {
	t.Helper()
	env := []string{"XDG_RUNTIME_DIR=" + runtimeFolder(t)}
	going := start(t, dir, env, binary, "put", "--host=embedded", "--obj.size=1KiB", "--concurrent=1", "--stress", "--quiet")
	defer func() {
		_ = going.cmd.Process.Signal(os.Interrupt)
		_, _ = going.wait()
	}()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if r := run(t, dir, env, binary, "mark", "--json", "disk pulled"); r.code == 0 {
			return r.out
		}
	}
	t.Fatal("the run took no mark")
	return ""
}

// sets writes six reports each to two directories, in which throughput differs only by chance,
// and the median latency drifts. They contain statements of a script, for their fields.
func sets(t *testing.T, dir, text string) {
	t.Helper()
	for k, side := range []string{"before", "after"} {
		check.OK(t, os.Mkdir(filepath.Join(dir, side), 0o755))
		for i := range 6 {
			var r results.Report
			check.OK(t, json.Unmarshal([]byte(text), &r))
			r.Runs, r.Warnings, r.End = []string{fmt.Sprint(side, i)}, []string{}, "completed"
			r.Parameters = map[string]string{"concurrent": fmt.Sprint(k + 1)}
			o := &r.Operations[len(r.Operations)-1]
			g := &r.Groups[o.Group]
			o.BytesPerS, o.Errors, o.Statement = o.BytesPerS*(1+.01*float64((k+7*i)%5)), 0, 1
			g.Kind, g.BytesPerS = "statement", o.BytesPerS
			o.Duration.P50 *= 1 + .01*float64(6*k+i)
			for n := range r.Groups {
				later := time.Duration(6*k+i) * time.Hour
				r.Groups[n].WindowStart, r.Groups[n].WindowEnd = r.Groups[n].WindowStart.Add(later), r.Groups[n].WindowEnd.Add(later)
			}
			warmup := *o
			warmup.Warmup = true
			r.Operations = append(r.Operations, warmup)
			document, err := json.Marshal(r)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, side, fmt.Sprint(i, ".json")), document, 0o644)
			}
			check.OK(t, err)
		}
	}
}

// nights writes reports of nights into the folder of a baseline, of which the later ones are slower, and one is unfit.
func nights(t *testing.T, dir, text string) {
	t.Helper()
	folder := filepath.Join(dir, "nights", "main")
	check.OK(t, os.MkdirAll(folder, 0o755))
	for i := range 16 {
		var r results.Report
		check.OK(t, json.Unmarshal([]byte(text), &r))
		r.Runs, r.Warnings, r.End = []string{fmt.Sprint("night", i)}, []string{}, "completed"
		if i == 3 {
			r.End = "aborted"
		}
		factor := 1 + .01*float64(i%3)
		if i >= 8 {
			factor, r.Warp = factor/2, "later"
		}
		for n := range r.Groups {
			g := &r.Groups[n]
			g.BytesPerS, g.Errors = g.BytesPerS*factor, 0
			g.WindowStart, g.WindowEnd = g.WindowStart.AddDate(0, 0, i), g.WindowEnd.AddDate(0, 0, i)
		}
		for n := range r.Operations {
			o := &r.Operations[n]
			o.BytesPerS, o.Errors, o.Statement = o.BytesPerS*factor, 0, 1
		}
		document, err := json.Marshal(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, fmt.Sprintf("%02d.json", i)), document, 0o644)
		}
		check.OK(t, err)
	}
}

var (
	reportType      = reflect.TypeFor[results.Report]()
	comparisonType  = reflect.TypeFor[compare.Changes]()
	verdictsType    = reflect.TypeFor[compare.Verdicts]()
	comparisonsType = reflect.TypeFor[compare.Comparisons]()
	historyType     = reflect.TypeFor[compare.History]()
	profileType     = reflect.TypeFor[workload.Profile]()
	findType        = reflect.TypeFor[find.Report]()
	findChangeType  = reflect.TypeFor[find.Change]()
	sweepType       = reflect.TypeFor[sweep.Result]()
	sweepsType      = reflect.TypeFor[sweep.Comparison]()
)

// runEverything runs commands that together produce every field. Later steps use the logs of
// earlier ones.
func runEverything(t *testing.T) sighting {
	dir := workplace(t)
	seen := sighting{}
	seen.runs(t, dir)
	seen.aggregated(t, dir)
	seen.sets(t, dir, seen.logs(t, dir))
	seen.script(t, dir)
	seen.assertions(t, dir)
	seen.stages(t, dir)
	seen.files(t, dir)
	seen.profiles(t, dir)
	seen.consistency(t, dir)
	seen.replay(t, dir)
	seen.calibration(t, dir)
	seen.cleaning(t, dir)
	seen.sweeps(t, dir)
	seen.searches(t, dir)
	planned := mustWarp(t, 0, dir, "get", "--host=127.0.0.1:1", "--json", "--dry-run").out
	seen.object(t, "Planned run", planned)
	var d map[string]any
	check.OK(t, json.Unmarshal([]byte(planned), &d))
	seen.walk(t, d["cost"], reflect.TypeFor[plan.Cost]())
	return seen
}

// runs produces errors with several hosts, an open loop that is much too fast, and repeated
// accesses to one object.
func (s sighting) runs(t *testing.T, dir string) {
	r := mustWarp(t, 3, dir, "put", "--host="+twoHosts(t), "--access-key=testkey", "--secret-key=testsecret", "--obj.size=1KiB,64KiB",
		"--obj.randsize", "--allow-dead-hosts", "--concurrent=2", "--duration=1s", "--rps-limit=2000000", "--json", "--analyze.v",
		"--stats-interval=200ms", "--benchdata=open")
	s.document(t, r.out, reportType)
	for l := range strings.Lines(r.errout) {
		switch {
		case strings.HasPrefix(l, `{"elapsed_s"`) && strings.Contains(l, `"phase"`):
			s.object(t, "Phase line", l)
		case strings.HasPrefix(l, "{"):
			s.object(t, "Progress line", l)
		}
	}
	r = mustWarp(t, 0, dir, "get", "--host=embedded", "--obj.size=4KiB", "--objects=10", "--concurrent=2", "--duration=500ms",
		"--rps-limit=1000", "--pick=zipf:1", "--json", "--analyze.v", "--trace-http", "--trace-http-sample=1", "--benchdata=again")
	s.document(t, r.out, reportType)
	for l := range strings.Lines(r.errout) { // of a preparation, whose total is known
		if strings.HasPrefix(l, `{"elapsed_s"`) && strings.Contains(l, `"phase"`) {
			s.object(t, "Phase line", l)
		}
	}
}

// searches makes a search whose first load fails, and compares it with itself.
func (s sighting) searches(t *testing.T, dir string) {
	s.document(t, mustWarp(t, 4, dir, "find", "--json", "--quiet", "--assert=errors>50%", "--start=20", "--at-least=10", "--logs=search", "get", "--host=embedded",
		"--obj.size=1KiB", "--objects=10").out, findType)
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", "search", "search").out, findChangeType)
}

// sweeps makes two sweeps, and compares them. One point of the first one has no store. The load is so low that it is the
// store that is measured, whatever else the machine does.
func (s sighting) sweeps(t *testing.T, dir string) {
	load := []string{"stat", "--host=embedded", "--objects=10", "--duration=300ms", "--rps-limit=100"}
	for _, folder := range []string{"sweep-1", "sweep-2"} {
		args := []string{"sweep", "--json", "--quiet", "--pause=0s", "--logs=" + folder, "--vary=obj.size=1KiB,2KiB", "--vary=concurrent=1..4x2"}
		s.document(t, mustWarp(t, 0, dir, append(args, load...)...).out, sweepType)
	}
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", "sweep-1", "sweep-2").out, sweepsType)
	r := mustWarp(t, 1, dir, "sweep", "--json", "--quiet", "--pause=0s", "--vary=host=embedded,127.0.0.1:1", "stat", "--access-key=key", "--secret-key=key-secret", "--objects=10",
		"--duration=300ms", "--concurrent=1")
	s.document(t, r.out, sweepType)
}

// aggregated reads a file of MinIO's warp.
func (s sighting) aggregated(t *testing.T, dir string) {
	aggregated, err := filepath.Abs("../../pkg/miniowarp/testdata/aggregated.json")
	check.OK(t, err)
	s.document(t, mustWarp(t, 0, dir, "analyze", "--json", aggregated).out, reportType)
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", aggregated, aggregated).out, comparisonType)
}

// logs produces a run that ends early, one with a troubled log, and comparisons of logs. It returns
// the report of the first one.
func (s sighting) logs(t *testing.T, dir string) (report string) {
	r := mustWarp(t, 1, dir, "put", "--host=embedded", "--embedded.memory=16MiB", "--obj.size=64KiB", "--concurrent=2",
		"--duration=1m", "--json", "--quiet", "--benchdata=full")
	s.document(t, r.out, reportType)
	s.document(t, mustWarp(t, 0, dir, "analyze", "--json", "open.csv.zst").out, reportType)
	troubledLog(t, filepath.Join(dir, "troubled.csv.zst"))
	s.document(t, mustWarp(t, 0, dir, "analyze", "--json", "troubled.csv.zst").out, reportType)
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", "open.csv.zst", "open.csv.zst").out, comparisonType)
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", "open.csv.zst", "full.csv.zst").out, comparisonType)
	return r.out
}

// sets compares sets of runs: copies of a run, and the runs of ab.
func (s sighting) sets(t *testing.T, dir, report string) {
	sets(t, dir, report)
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", "--force", "--analyze.v", "before", "after").out, verdictsType)
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", "--force", "before", "first=after/0.json", "after=after/[1-5].json").out, comparisonsType)
	nights(t, dir, report)
	s.document(t, mustWarp(t, 0, dir, "history", "--json", "nights").out, historyType)
	s.document(t, mustWarp(t, 5, dir, "ab", "--json", "--aa", "--pairs=1", "--max-pairs=2", "--pause=0s", "--logs=trial", "--assert=p50.change<+5%",
		"stat", "--host=embedded", "--objects=10", "--duration=200ms", "--concurrent=1").out, verdictsType)
}

// assertions produces assertions by statement, with an interval, by pieces, and confirmed.
func (s sighting) assertions(t *testing.T, dir string) {
	s.document(t, mustWarp(t, 0, dir, "analyze", "--json", "script.csv.zst").out, reportType)
	s.document(t, mustWarp(t, 0, dir, "history", "--json", "script.csv.zst").out, historyType)
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", "script.csv.zst", "script.csv.zst").out, comparisonType)
	s.document(t, mustWarp(t, 4, dir, "analyze", "--json", "script.csv.zst", "--assert=GET.errors<=100%", "--assert=GET.errors<0%").out, reportType)
	s.document(t, mustWarp(t, 4, dir, "put", "--host=embedded", "--obj.size=1KiB", "--concurrent=2", "--duration=3s", "--json",
		"--benchdata=confirmed", "--assert=errors>50%", "--assert=every 1s errors<=0%", "--confirm").out, reportType)
}

// stages produces two runs in stages, and compares them.
func (s sighting) stages(t *testing.T, dir string) {
	for _, log := range []string{"stages-1", "stages-2"} {
		s.document(t, mustWarp(t, 0, dir, "stat", "--host=embedded", "--obj.size=1KiB", "--objects=10", "--concurrent=2", "--stages=1s@50, 1s@100",
			"--json", "--quiet", "--benchdata="+log, "--assert=errors<=100%").out, reportType)
	}
	logs := []string{"stages-1.csv.zst", "stages-2.csv.zst"}
	s.document(t, mustWarp(t, 0, dir, append([]string{"cmp", "--json"}, logs...)...).out, comparisonType)
	s.document(t, mustWarp(t, 0, dir, "cmp", "--json", "stages-1*", "stages-2*").out, verdictsType)
	s.document(t, mustWarp(t, 0, dir, append([]string{"history", "--json"}, logs...)...).out, historyType)
}

// files produces merged and exported logs, and marks. The runs of the merged log do not overlap.
func (s sighting) files(t *testing.T, dir string) {
	s.object(t, "Merged log", mustWarp(t, 0, dir, "merge", "--json", "--benchdata=m", "--assert=errors<=100%", "open.csv.zst", "full.csv.zst").out)
	s.object(t, "Exported file", mustWarp(t, 0, dir, "export", "--json", "-o", "m.csv", "m.csv.zst").out)
	s.object(t, "Exported file", mustWarp(t, 0, dir, "report", "--json", "-o", "m.html", "m.csv.zst").out)
	s.object(t, "Set mark", setMark(t, dir))
	s.document(t, mustWarp(t, 0, dir, "analyze", "--json", "m.csv.zst").out, reportType)
}

// profiles produces the profile of an access log, and the share of a cache.
func (s sighting) profiles(t *testing.T, dir string) {
	s.document(t, mustWarp(t, 0, dir, "get", "--json", "--host=embedded", "--obj.size=4KiB", "--objects=20", "--concurrent=2", "--duration=300ms", "--cache=1MiB").out, reportType)
	var log strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&log, "owner bucket [06/Feb/2019:00:00:%02d +0000] - - - REST.GET.OBJECT key%d \"GET /\" %d - %d 10 1 1 \"-\" \"-\" -\n", i/50, i*i%97, 200+i%7/6*206, 10-i%5/4)
	}
	check.OK(t, os.WriteFile(filepath.Join(dir, "access.log"), []byte(log.String()), 0o644))
	s.document(t, mustWarp(t, 0, dir, "workload", "--json", "access.log").out, profileType)
}

// consistency judges the log of two clients, of which one is incomplete: 14 requests created the same object after a mark.
func (s sighting) consistency(t *testing.T, dir string) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC).UnixNano()
	origin := func(client string, offset uint32) oplog.Origin {
		return oplog.Origin{Run: "r", Client: client, Offset: offset, Threads: 20, Header: oplog.Header{Warp: "test", ClockError: 1e6}}
	}
	w, err := oplog.Create(filepath.Join(dir, "broken.csv.zst"), oplog.Header{
		Warp: "test", Run: "r", Checks: &oplog.Checks{Properties: []string{"create"}}, Merged: []oplog.Origin{origin("r-1", 0), origin("r-2", 20)},
	})
	check.OK(t, err)
	row := func(op string, i int, c oplog.Check) oplog.Record {
		c.Property = "create"
		return oplog.Record{Op: op, Run: "r", Client: "r-1", Thread: uint32(i), Key: "k", Objects: 1, Endpoint: "http://127.0.0.1:9000",
			Start: at + int64(i)*1e6, Duration: 1e9, Status: 200, Check: &c}
	}
	var rows []oplog.Record
	for i := range 14 {
		rows = append(rows, row("PUT", i, oplog.Check{Outcome: "won", Condition: "absent", Sent: fmt.Sprintf("0-%d-1:1", i)}))
	}
	rows[0].Check.Outcome, rows[0].Err, rows[0].Status = "unknown", "Timeout: no answer", 0
	rows = append(rows, row("GET", 14, oplog.Check{Outcome: "won", Received: "0-0-1:1"}), row("GET", 15, oplog.Check{Outcome: "won", Received: "1-0-1:1"}))
	failed := errors.Join(w.AddMark(oplog.Mark{At: at + 5e8, Text: "disk pulled"}), w.Write(rows))
	if _, err := w.Commit(oplog.Trailer{End: "completed", Merged: []*oplog.Trailer{{End: "completed"}, nil}}); errors.Join(failed, err) != nil {
		t.Fatal(errors.Join(failed, err))
	}
	s.document(t, mustWarp(t, 4, dir, "consistency", "--json", "--log=broken.csv.zst").out, reportType)
	s.document(t, mustWarp(t, 0, dir, "consistency", "--json", "--host=embedded", "--only=create", "--duration=500ms", "--concurrent=2").out, reportType)
}

// replay repeats a log with a listing, which cannot be sent again, and an object whose size is not known.
func (s sighting) replay(t *testing.T, dir string) {
	w, err := oplog.Create(filepath.Join(dir, "mixture.csv.zst"), oplog.Header{Warp: "test", Run: "r", Benchmark: "mixed"})
	check.OK(t, err)
	var rows []oplog.Record
	for i, op := range []string{"GET", "STAT", "LIST"} {
		r := oplog.Record{Op: op, Run: "r", Client: "c", Key: op, Objects: 1, Start: int64(i+1) * 1e6, Duration: 1e3}
		if op == "GET" {
			r.Bytes = 100
		}
		rows = append(rows, r)
	}
	failed := w.Write(rows)
	if _, err := w.Commit(oplog.Trailer{End: "completed"}); errors.Join(failed, err) != nil {
		t.Fatal(errors.Join(failed, err))
	}
	s.document(t, mustWarp(t, 0, dir, "replay", "--json", "--host=embedded", "mixture.csv.zst").out, reportType)
}

// calibration produces the limits of this machine.
func (s sighting) calibration(t *testing.T, dir string) {
	r := mustWarp(t, 0, dir, "calibrate", "--json", "--duration=100ms")
	s.object(t, "Calibration", r.out)
	var calibration struct{ Points []json.RawMessage }
	if err := json.Unmarshal([]byte(r.out), &calibration); err != nil || len(calibration.Points) == 0 {
		t.Fatalf("a calibration with %d points: %v", len(calibration.Points), err)
	}
	s.object(t, "Calibration point", string(calibration.Points[0]))
}

// cleaning produces the report of clean about a bucket.
func (s sighting) cleaning(t *testing.T, dir string) {
	store, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 64 << 20})
	check.OK(t, err)
	defer store.Close()
	at := []string{"--host=" + store.Addr(), "--access-key=testkey", "--secret-key=testsecret"}
	mustWarp(t, 0, dir, append([]string{"put", "--obj.size=1", "--max-objects=3", "--keep-data", "--stress"}, at...)...)
	r := mustWarp(t, 0, dir, append([]string{"clean", "--json", "--dry-run"}, at...)...)
	s.object(t, "Cleaned bucket", r.out)
	var cleaned struct{ Runs []struct{ Seed string } }
	if err := json.Unmarshal([]byte(r.out), &cleaned); err != nil || len(cleaned.Runs) != 1 {
		t.Fatalf("%v in %s", err, r.out)
	}
	r = mustWarp(t, 0, dir, append([]string{"clean", "--json", "--dry-run", "--seed=" + cleaned.Runs[0].Seed}, at...)...)
	var runs struct{ Runs []json.RawMessage }
	check.OK(t, json.Unmarshal([]byte(r.out), &runs))
	s.object(t, "Cleaned run", string(runs.Runs[0]))
}

// script runs scripts that produce all fields of their documents.
func (s sighting) script(t *testing.T, dir string) {
	r := mustWarp(t, 3, dir, "script", "--json", "--host=embedded", "--benchdata=script", "--max-errors=2", "--assert=errors<=100%",
		`PUT 20 OBJECTS OF SIZE 1 KB; GET AT RATE 50 PER SECOND WARMUP 1300 MILLISECONDS RUNTIME 2600 MILLISECONDS;
		REUSE 5 OBJECTS USING NAMING STRATEGY CONSTANT PREFIX WITH SEED "x" IN CONTEXT "gone"; GET 5 OBJECTS IN CONTEXT "gone"; DELETE`)
	s.object(t, "Script", r.out)
	var script struct {
		Settings   json.RawMessage
		Statements []json.RawMessage
	}
	check.OK(t, json.Unmarshal([]byte(r.out), &script))
	s.object(t, "Script settings", string(script.Settings))
	for _, text := range script.Statements {
		s.object(t, "Statement", string(text))
		var statement struct{ Final map[string]json.RawMessage }
		check.OK(t, json.Unmarshal(text, &statement))
		for name, value := range statement.Final {
			s.note("Statement figures", name)
			if strings.HasSuffix(name, "_ms") && string(value) != "null" {
				s.object(t, "Statement times", string(value))
			}
		}
	}
	for l := range strings.Lines(r.errout) {
		if strings.HasPrefix(l, `{"statement"`) {
			s.object(t, "Statement line", l)
		}
	}
	for name := range s["Statement figures"] {
		delete(s["Statement line"], name)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	seen := runEverything(t)
	doc := read(t, "docs/json-fields.md")
	for section, typ := range sections() {
		documented := doc.in(t, section)[0].names1()
		same(t, section, documented, fields(typ))
		for _, name := range documented {
			if !seen[section][name] && !slices.Contains(notHere, section+"."+name) {
				t.Errorf("%s: no real document has %q", section, name)
			}
		}
	}
	for _, section := range ownSections {
		var real []string
		for name := range seen[section] {
			real = append(real, name)
		}
		same(t, section, doc.in(t, section)[0].names1(), real)
	}
	for _, tab := range doc.tables {
		if _, ok := sections()[tab.section]; !ok && !slices.Contains(ownSections, tab.section) {
			t.Errorf("the table in section %q is held against nothing", tab.section)
		}
	}
}

// names1 returns the first columns.
func (tab table) names1() []string {
	var names []string
	for _, row := range tab.rows {
		names = append(names, strings.Trim(row[0], "`"))
	}
	return names
}

// Standard output contains only the document, even if the run fails.
func TestJSONOnly(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	for _, args := range [][]string{
		{"get", "--json", "--host=127.0.0.1:1"},
		{"get", "--json", "--nonsense"},
		{"analyze", "--json", "nowhere.csv.zst"},
	} {
		if r := warp(t, dir, args...); r.out != "" || r.code == 0 || r.errout == "" {
			t.Errorf("warp %q: exit code %d, %q on standard output, %q on standard error", args, r.code, r.out, r.errout)
		}
	}
}
