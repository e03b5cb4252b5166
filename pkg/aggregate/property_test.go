package aggregate

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/compare"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

func everyLoad(t *testing.T, f func(t *testing.T, rows []oplog.Record)) {
	for name, l := range testlog.Loads() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				f(t, l.Rows(seed))
			}
		})
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		o := Options{Verbose: true}
		want := render(t, analyze(t, rows, o))
		same(t, "shuffled", render(t, analyze(t, shuffled(rows, 7), o)), want)
		slices.Reverse(rows)
		same(t, "reversed", render(t, analyze(t, rows, o)), want)
	})
}

// pieces splits rows by a rule.
func pieces(rows []oplog.Record, n int, rule func(i int, r *oplog.Record) int) [][]oplog.Record {
	parts := make([][]oplog.Record, n)
	for i := range rows {
		k := rule(i, &rows[i]) % n
		parts[k] = append(parts[k], rows[i])
	}
	return parts
}

// windowOf returns a window in the middle of the rows.
func windowOf(rows []oplog.Record) oplog.Window {
	first, last := rows[0].Start, rows[0].End()
	for i := range rows {
		first, last = min(first, rows[i].Start), max(last, rows[i].End())
	}
	length := last - first
	return oplog.Window{Start: first + length/20, Begin: first + length/6, End: last - length/5, Cold: 1}
}

// merged counts the parts separately and merges them in the given order, after encoding and
// decoding each.
func merged(t *testing.T, parts [][]oplog.Record, w oplog.Window, order []int, nested bool) string {
	t.Helper()
	o := Options{Verbose: true}
	sum, inner := NewSummary(o), NewSummary(o)
	for k, i := range order {
		into := sum
		if nested && k > 0 {
			into = inner
		}
		check.OK(t, into.Merge(travelled(t, count(t, parts[i], w, o), o)))
	}
	if nested {
		check.OK(t, sum.Merge(inner))
	}
	sum.Close(oplog.Trailer{})
	r, err := sum.Report()
	check.OK(t, err)
	return render(t, r)
}

// count returns a summary of rows in any order.
func count(t *testing.T, rows []oplog.Record, w oplog.Window, o Options) *Summary {
	t.Helper()
	s := NewSummary(o)
	check.OK(t, s.SetWindow(w))
	_ = s.Write(rows)
	return s
}

// travelled returns the summary as a coordinator decodes it.
func travelled(t *testing.T, s *Summary, o Options) *Summary {
	t.Helper()
	b, err := s.Encode()
	check.OK(t, err)
	s, err = Decode(b, o)
	check.OK(t, err)
	return s
}

func TestMerge(t *testing.T) {
	t.Parallel()
	rules := map[string]func(i int, r *oplog.Record) int{
		"client": func(_ int, r *oplog.Record) int { return int(r.Client[1]) },
		"thread": func(_ int, r *oplog.Record) int { return int(r.Thread) },
		"turns":  func(i int, _ *oplog.Record) int { return i },
		"op":     func(_ int, r *oplog.Record) int { return len(r.Op) },
		"host":   func(_ int, r *oplog.Record) int { return int(r.Endpoint[len("http://host")]) },
	}
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		w := windowOf(rows)
		whole := count(t, rows, w, Options{Verbose: true})
		whole.windows.Common.Cold = 3 // one of each part
		whole.groupOf(measured, oplog.Statement{}).window.Cold = 3
		r, err := whole.Report()
		check.OK(t, err)
		want := render(t, r)
		for name, rule := range rules {
			parts := pieces(rows, 3, rule)
			same(t, name, merged(t, parts, w, []int{2, 0, 1}, false), want)
			same(t, name+", nested", merged(t, parts, w, []int{1, 2, 0}, true), want)
		}
	})
}

func TestMergeRefusesOtherWindows(t *testing.T) {
	t.Parallel()
	rows := testlog.Loads()["get"].Rows(1)
	w := windowOf(rows)
	other := w
	other.End++
	if err := count(t, rows, w, Options{}).Merge(count(t, rows, other, Options{})); err == nil {
		t.Error("summaries of different windows were merged")
	}
}

// TestOnePass compares a log that is read once with rows that arrive in any order after everything
// is decided.
func TestOnePass(t *testing.T) {
	t.Parallel()
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		w := windowOf(rows)
		for _, o := range []Options{{Verbose: true}, {SegmentDur: 7 * time.Minute}, {Skip: 100 * time.Millisecond}} {
			log := windowed(rows, w)
			got := analyzeLog(t, log, o)
			if log.reads != 1 {
				t.Fatalf("the log was read %d times", log.reads)
			}
			s := count(t, shuffled(rows, 3), w, o)
			want, err := s.describe(log.header, log.trailer)
			check.OK(t, err)
			same(t, "one pass", render(t, got), render(t, want))
		}
	})
}

func TestSegmentsAddUp(t *testing.T) {
	t.Parallel()
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		for _, dur := range []time.Duration{0, rows[len(rows)-1].Duration/2 + 33*time.Millisecond, 7 * time.Second} {
			for _, op := range analyze(t, rows, Options{SegmentDur: dur}).Operations {
				segmentsAddUp(t, &op)
			}
		}
	})
}

func segmentsAddUp(t *testing.T, op *results.Operation) {
	t.Helper()
	var bytes, hostBytes, clientBytes uint64
	var objects, seconds float64
	for _, s := range op.Segments {
		bytes, objects, seconds = bytes+s.Bytes, objects+s.Objects, seconds+s.DurationS
	}
	for i := range op.Hosts {
		hostBytes += op.Hosts[i].Bytes
	}
	for i := range op.ByClient {
		clientBytes += op.ByClient[i].Bytes
	}
	// Objects are multiples of 2^-20 and add up exactly in floating point, too.
	if bytes != op.Bytes || objects != op.Objects || hostBytes != op.Bytes || clientBytes != op.Bytes {
		t.Errorf("%s: segments have %d bytes and %v objects, hosts %d, clients %d, the operation %d and %v",
			op.Op, bytes, objects, hostBytes, clientBytes, op.Bytes, op.Objects)
	}
	if math.Abs(seconds-op.WindowS) > 1e-6*op.WindowS+1e-9 {
		t.Errorf("%s: segments last %v s, the window %v s", op.Op, seconds, op.WindowS)
	}
}

// TestNothingStaysBehind checks that encoding omits no field.
func TestNothingStaysBehind(t *testing.T) {
	t.Parallel()
	local := map[string]bool{ // derived from the other fields, or useless at the coordinator
		"group.window": true, "group.basis": true, "group.runs": true, "group.cold": true, "group.lastOp": true, "group.lastClient": true, "groupClient.run": true,
		"hostTotals.unwanted": true, "Series.cur": true, "Series.curLo": true, "Series.curHi": true,
	}
	seen := map[reflect.Type]bool{}
	var walk func(x reflect.Type)
	walk = func(x reflect.Type) {
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(x.Elem())
			return
		case reflect.Map:
			walk(x.Key())
			walk(x.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[x] || x == reflect.TypeFor[stats.Histogram]() || x == reflect.TypeFor[stats.Sparse]() || x == reflect.TypeFor[oplog.Window]() {
			return // these encode themselves
		}
		seen[x] = true
		for i := range x.NumField() {
			f := x.Field(i)
			generic := strings.HasPrefix(x.Name(), "keyed[") && (f.Name == "index" || f.Name == "last")
			if !f.IsExported() && !f.Anonymous && !generic && !local[x.Name()+"."+f.Name] {
				t.Errorf("%s.%s does not travel", x.Name(), f.Name)
			}
			if f.IsExported() || f.Anonymous {
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[encodedSummary]())
	if len(seen) < 15 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func TestCompareWithItself(t *testing.T) {
	t.Parallel()
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		r := analyze(t, rows, Options{})
		r.Describe(oplog.Header{Parameters: map[string]string{"concurrent": "8"}}, oplog.Trailer{})
		c := compare.Reports(r, r)
		if len(c.Parameters)+len(c.OnlyBefore)+len(c.OnlyAfter) > 0 || len(c.Operations) != len(r.Operations) {
			t.Errorf("%+v", c)
		}
		js, err := json.Marshal(c)
		check.OK(t, err)
		zeroDiffs(t, js)
	})
}

// zeroDiffs checks that every diff and percent in a comparison is zero.
func zeroDiffs(t *testing.T, js []byte) {
	t.Helper()
	var doc any
	check.OK(t, json.Unmarshal(js, &doc))
	found := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				if k == "diff" || k == "percent" {
					found++
					if x != 0.0 {
						t.Errorf("%s is %v in %v", k, x, v)
					}
				}
				walk(x)
			}
		}
	}
	walk(doc)
	if found == 0 {
		t.Error("nothing compared")
	}
}

func TestFiltersDoNotChangeFigures(t *testing.T) {
	t.Parallel()
	rows := testlog.Loads()["mixed"].Rows(3)
	full := analyze(t, rows, Options{})
	for i := range full.Operations {
		want := &full.Operations[i]
		got := &analyze(t, rows, Options{Op: strings.ToLower(want.Op)}).Operations[0]
		if got.BytesPerS != want.BytesPerS || got.Inside != want.Inside || got.WindowS != want.WindowS || got.Share != want.Share {
			t.Errorf("%s alone: %+v\nin the whole report: %+v", want.Op, got, want)
		}
		for _, asked := range []string{"http://host1:9000", "host1:9000", "HOST1:9000/"} {
			one := analyze(t, rows, Options{Op: want.Op, Host: asked}).Operations[0]
			if one.Bytes != want.Hosts[1].Bytes || one.Inside+one.Errors != want.Hosts[1].Requests || one.WindowS != want.WindowS {
				t.Errorf("%s at %s: %+v, in the whole report %+v", want.Op, asked, one, want.Hosts[1])
			}
		}
	}
}
