package assert

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func known() []string { return []string{"GET", "PUT", "STAT", "DELETE"} }

func TestParse(t *testing.T) {
	t.Parallel()
	p := func(f Family, q float64) Metric { return Metric{f, Percentile, q} }
	for text, want := range map[string]Assertion{
		"GET.p99<50ms":                  {Op: "GET", Metric: p(Duration, .99), Cmp: Less, Limit: 50},
		" get.P99.9 <= 1.5 s ":          {Op: "GET", Metric: p(Duration, .999), Cmp: LessEqual, Limit: 1500},
		"p50<250µs":                     {Metric: p(Duration, .5), Cmp: Less, Limit: .25},
		"p50<250μs":                     {Metric: p(Duration, .5), Cmp: Less, Limit: .25},
		"PUT.throughput>=1GiB/s":        {Op: "PUT", Metric: Metric{Family: Throughput}, Cmp: MoreEqual, Limit: 1 << 30},
		"throughput>1.5MB/s":            {Metric: Metric{Family: Throughput}, Cmp: More, Limit: 1.5e6},
		"STAT.objs>1000obj/s":           {Op: "STAT", Metric: Metric{Family: Objects}, Cmp: More, Limit: 1000},
		"errors<0.1%":                   {Metric: Metric{Family: Errors}, Cmp: Less, Limit: .001},
		"GET.errors<=0%":                {Op: "GET", Metric: Metric{Family: Errors}, Cmp: LessEqual},
		"GET.ttfb.p95<20ms":             {Op: "GET", Metric: p(TTFB, .95), Cmp: Less, Limit: 20},
		"ttfb.mean<20ms":                {Metric: Metric{TTFB, Mean, 0}, Cmp: Less, Limit: 20},
		"GET.ttfb<20ms":                 {Op: "GET", Metric: Metric{TTFB, Mean, 0}, Cmp: Less, Limit: 20},
		"wire.p99<1ms":                  {Metric: p(Wire, .99), Cmp: Less, Limit: 1},
		"response.p99.99<1m":            {Metric: p(Response, .9999), Cmp: Less, Limit: 60e3},
		"GET.max<2s":                    {Op: "GET", Metric: Metric{Duration, Max, 0}, Cmp: Less, Limit: 2000},
		"min>100ns":                     {Metric: Metric{Duration, Min, 0}, Cmp: More, Limit: 1e-4},
		"every 10s GET.p99<80ms in 95%": {Every: 10 * time.Second, Share: .95, Op: "GET", Metric: p(Duration, .99), Cmp: Less, Limit: 80},
		"every 1m errors<1%":            {Every: time.Minute, Metric: Metric{Family: Errors}, Cmp: Less, Limit: .01},
		"GET.p99.change<+5%":            {Op: "GET", Metric: p(Duration, .99), Change: true, Cmp: Less, Limit: .05},
		"GET.p99.9.change<5%":           {Op: "GET", Metric: p(Duration, .999), Change: true, Cmp: Less, Limit: .05},
		"throughput.change>-2.5%":       {Metric: Metric{Family: Throughput}, Change: true, Cmp: More, Limit: -.025},
	} {
		got, err := Parse(text, known())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want.Text = strings.TrimSpace(text); want.Share == 0 {
			want.Share = 1
		}
		if math.Abs(got.Limit-want.Limit) > 1e-12*math.Abs(want.Limit) {
			t.Errorf("%s: the limit is %v, want %v", text, got.Limit, want.Limit)
		}
		want.Unit, want.Limit, want.Metric.Q, want.Share = got.Unit, got.Limit, round(got.Metric.Q, want.Metric.Q), round(got.Share, want.Share)
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, want %+v", text, *got, want)
		}
	}
}

// round returns the first of two numbers that differ only by rounding.
func round(a, b float64) float64 {
	if math.Abs(a-b) < 1e-12 {
		return a
	}
	return b
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             `"": column 1: a metric is missing; write for example GET.p99<50ms`,
		"GET.p99":                      `"GET.p99": column 8: a comparison is missing; a shell interprets < and > unless they are quoted: --assert 'GET.p99<…'`,
		"GET.p99<50":                   `"GET.p99<50": column 11: the unit is missing; write 50ms`,
		"GET.p99<":                     `"GET.p99<": column 9: a number is missing, such as 50ms`,
		"GTE.p99<50ms":                 `"GTE.p99<50ms": column 1: there is no operation "GTE"; did you mean GET?`,
		"QUUX.p99<50ms":                `"QUUX.p99<50ms": column 1: there is no operation "QUUX"; it is one of GET, PUT, STAT, DELETE`,
		"GET.p9l<50ms":                 `"GET.p9l<50ms": column 5: there is no metric "p9l"; did you mean p90?`,
		"GET.p999<50ms":                `"GET.p999<50ms": column 5: there is no metric "p999"; did you mean p99.9?`,
		"GET.p100<50ms":                `"GET.p100<50ms": column 5: p100 is not a percentile above p0 and below p100`,
		"GET.avg<50ms":                 `"GET.avg<50ms": column 5: there is no metric "avg"; did you mean mean?`,
		"avg<50ms":                     `"avg<50ms": column 1: there is no metric "avg"; did you mean mean?`,
		"troughput>1GB/s":              `"troughput>1GB/s": column 1: there is no metric "troughput"; did you mean throughput?`,
		"GET<5ms":                      `"GET<5ms": column 4: a metric is missing after GET; write for example GET.p99`,
		"GET.p99<50MS":                 `"GET.p99<50MS": column 11: GET.p99 has no unit "MS"; did you mean ms?`,
		"GET.p99<50%":                  `"GET.p99<50%": column 11: GET.p99 has no unit "%"; it is measured in ns, us, µs, ms, s, m`,
		"PUT.throughput>=1GiB":         `"PUT.throughput>=1GiB": column 18: PUT.throughput has no unit "GiB"; did you mean GiB/s?`,
		"PUT.throughput>=1Gbps":        `"PUT.throughput>=1Gbps": column 18: PUT.throughput has no unit "Gbps"; did you mean GB/s?`,
		"errors<0.1":                   `"errors<0.1": column 11: the unit is missing; write 0.1%`,
		"GET.p99==50ms":                `"GET.p99==50ms": column 8: a comparison is one of <, <=, > and >=, not "=="`,
		"GET.p99 50ms":                 `"GET.p99 50ms": column 9: a comparison is one of <, <=, > and >=, not "5"`,
		"GET.p99<-5ms":                 `"GET.p99<-5ms": column 9: only changes have a sign`,
		"GET.recovery<5s":              `"GET.recovery<5s": recovery is about the marks of a whole run, all operations together; write for example recovery<30s`,
		"recovery.p99<5s":              `"recovery.p99<5s": column 10: recovery has no "p99"`,
		"every 9s longest_gap<5s":      `"every 9s longest_gap<5s": longest_gap is about the marks of a whole run, all operations together; write for example longest_gap<30s`,
		"recovery<30":                  `"recovery<30": column 12: the unit is missing; write 30s`,
		"throughput>1":                 `"throughput>1": column 13: the unit is missing; write 1MiB/s`,
		"longest_gap<":                 `"longest_gap<": column 13: a number is missing, such as 30s`,
		"GET.p99<5ms extra":            `"GET.p99<5ms extra": column 13: nothing may follow here, and there is "extra"`,
		"GET.p99<5ms in 95%":           `"GET.p99<5ms in 95%": column 16: a share is one of the pieces of the run, and the assertion has none; write for example: every 10s GET.p99<5ms in 95%`,
		"every 10 GET.p99<5ms":         `"every 10 GET.p99<5ms": column 7: "10" is not a duration; write it like every 10s`,
		"every 1ms GET.p99<5ms":        `"every 1ms GET.p99<5ms": column 7: every 1ms is too short; the minimum is 1s`,
		"every 9s GET.p99<5ms in 0%":   `"every 9s GET.p99<5ms in 0%": column 25: a share is written like in 95%, above 0% and up to 100%`,
		"every 9s p99.change<5%":       `"every 9s p99.change<5%": change and every cannot be combined; a change is about whole runs, and every about pieces of one`,
		"p99.5.5<5ms":                  `"p99.5.5<5ms": column 7: p99.5 has no "5"`,
		"throughput.p99>1GB/s":         `"throughput.p99>1GB/s": column 12: throughput has no "p99"`,
		strings.Repeat("p", 300):       `"pppppppppppppppppppppppppppppppppppppppp": an assertion is at most 200 bytes of text`,
		"GET.p99<" + "9e999ms":         `"GET.p99<9e999ms": column 10: GET.p99 has no unit "e"; it is measured in ns, us, µs, ms, s, m`,
		"GET.µ<5ms":                    `"GET.µ<5ms": column 5: there is no metric "µ"; metrics are throughput, objs, errors, recovery, longest_gap, mean, min, max and percentiles such as p99; ttfb, response and wire have them, too`,
		"every 10s GET.p99<80ms in 95": `"every 10s GET.p99<80ms in 95": column 27: a share is written like in 95%, above 0% and up to 100%`,
	} {
		_, err := Parse(text, known())
		if err == nil || err.Error() != want {
			t.Errorf("%s\n is %v\nwant %s", text, err, want)
		}
	}
}

// TestNeeds checks the rule against its definition: with one request less there is no bound.
func TestNeeds(t *testing.T) {
	t.Parallel()
	for q, want := range map[float64]uint64{.5: 5, .9: 29, .95: 59, .99: 299, .999: 2995, .9999: 29956, .01: 299} {
		m := Metric{Duration, Percentile, q}
		n := m.needs()
		if n != want {
			t.Errorf("p%v needs %d, want %d", 100*q, n, want)
		}
		if q := max(q, 1-q); math.Pow(q, float64(n)) > .05 || math.Pow(q, float64(n-1)) <= .05 {
			t.Errorf("p%v: %d is not the least number with a bound", 100*q, n)
		}
	}
}

// FuzzParse checks that an accepted assertion keeps its meaning when it is formatted and parsed
// again, and that errors point into the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"GET.p99<50ms", "every 10s GET.p99.9<80ms in 95%", "throughput.change>-2.5%", "errors<0.1%", "ttfb.p50 >= 1 µs", "p.1<1s", "p99.9.9<1s", "\xff<"} {
		f.Add(s)
	}
	f.Add("recovery<30s")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text, known())
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Column < 0 || e.Column > len(text)+1 || e.Reason == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		if a.Op != "" && !slices.Contains(known(), a.Op) || math.IsNaN(a.Limit) || math.IsInf(a.Limit, 0) || !(a.Share > 0 && a.Share <= 1) || a.Unit.Scale <= 0 {
			t.Fatalf("%q: %+v", text, a)
		}
		again, err := Parse(a.Text, known())
		if err != nil || !reflect.DeepEqual(again, a) {
			t.Fatalf("%q: %+v is %+v (%v) when it is read again", text, a, again, err)
		}
		if back, err := Parse(a.Subject()+"<1"+a.Unit.Name, known()); err != nil || back.Metric != a.Metric || back.Op != a.Op {
			t.Fatalf("%q: its subject %q is %+v (%v)", text, a.Subject(), back, err)
		}
	})
}
