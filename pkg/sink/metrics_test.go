package sink

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"warp/internal/check"
	"warp/internal/wire"
	"warp/pkg/counter"
	"warp/pkg/oplog"
)

func deflate(t testing.TB, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	check.OK(t, err)
	_, _ = w.Write(plain)
	_ = w.Close()
	return b.Bytes()
}

// exposed returns the number of metrics of the clients in Prometheus.
func exposed(t testing.TB, all ...ClientCounts) (n int) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(newExposition("get", func() []ClientCounts { return all }))
	families, err := registry.Gather()
	check.OK(t, err)
	for _, f := range families {
		n += len(f.GetMetric())
	}
	return n
}

func TestCountsTravel(t *testing.T) {
	t.Parallel()
	m := NewMetrics("c")
	_ = m.Write(rows())
	m.InFlight(map[string]int{"GET": 3, "PUT": 0})
	want := m.Counts()
	data, err := want.Append(nil)
	check.OK(t, err)
	got, err := ReadCounts(data)
	check.OK(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := exposed(t, ClientCounts{"a", got}, ClientCounts{"b", want}); n != 2*(3*7+1+2) {
		t.Errorf("%d metrics", n)
	}
}

// A time counts in the first bucket whose border is not below it.
func TestBuckets(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int{
		0: 0, minBucket: 0, minBucket + 1: 1, 2 * minBucket: 1, time.Second: 14, 134 * time.Second: 21, time.Hour: 22, -1: 0,
	} {
		var h histogram
		h.add(d)
		if h[want] != 1 {
			t.Errorf("%v is in %v", d, h)
		}
	}
}

// What would create an unlimited number of series is counted together, and can still be sent.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	m := NewMetrics("c")
	const n = 3000
	for i := range n {
		_ = m.Write([]oplog.Record{
			{Op: "GET", Endpoint: fmt.Sprintf("http://%0200d", i), Bytes: math.MaxInt64, Objects: 1, Duration: time.Hour},
			{Op: "GET", Endpoint: "http://a", Err: fmt.Sprintf("Code%0200d: text", i)},
		})
	}
	_ = m.Write([]oplog.Record{{Op: "GET", Endpoint: "\xff", Err: "\xfe\xff: text"}})
	data, err := m.Counts().Append(nil)
	if err != nil || len(data) > 1<<20 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	c, err := ReadCounts(data)
	check.OK(t, err)
	requests, failed := uint64(0), uint64(0)
	for _, s := range c.series {
		requests += s.Requests
	}
	for _, f := range c.failures {
		failed += f.requests
	}
	if requests != 2*n+1 || failed != n+1 || len(c.series) != maxSeries+1 {
		t.Errorf("%d requests, %d failed, %d series", requests, failed, len(c.series))
	}
	exposed(t, ClientCounts{"c", c})
}

// Unusual numbers are shown. Everything else is rejected, in bounded memory.
func TestHostileCounts(t *testing.T) {
	t.Parallel()
	one := func(change func(*Counts)) []byte {
		at := place{"GET", "http://a"}
		c := &Counts{series: []series{{place: at}}, failures: []failure{{failing{at, "x"}, 1}}, inFlight: []flight{{"GET", 1}}}
		change(c)
		data, err := c.Append(nil)
		check.OK(t, err)
		return data
	}
	if _, err := ReadCounts(one(func(*Counts) {})); err != nil {
		t.Fatal(err)
	}
	whole := one(func(*Counts) {})
	plain, _ := io.ReadAll(flate.NewReader(bytes.NewReader(whole)))
	for name, data := range map[string][]byte{
		"nothing":           nil,
		"not deflated":      plain,
		"cut off":           whole[:len(whole)-4],
		"a bomb":            deflate(t, make([]byte, 256<<20)),
		"more behind it":    deflate(t, append(slices.Clone(plain), 0)),
		"too many series":   deflate(t, binary.AppendUvarint(nil, math.MaxUint64)),
		"series of nothing": deflate(t, binary.AppendUvarint(nil, maxSeries)),
		"a long label":      deflate(t, wire.AppendText([]byte{1}, strings.Repeat("x", maxLabel+1))),
		"a label too far":   deflate(t, []byte{1, 200, 'x'}),
		"no text":           one(func(c *Counts) { c.series[0].op = "\xff" }),
		"no text as code":   one(func(c *Counts) { c.failures[0].code = "\xff" }),
		"a time below 0":    one(func(c *Counts) { c.series[0].TTFB = counter.Times{N: 1, Sum: -1} }),
		"a minimum below 0": one(func(c *Counts) { c.series[0].Time = counter.Times{N: 1, Min: math.MinInt64} }),
		"overflow":          one(func(c *Counts) { c.series[0].duration = [23]uint64{math.MaxUint64, 1} }),
		"a series twice":    one(func(c *Counts) { c.series = append(c.series, c.series[0]) }),
		"a code twice":      one(func(c *Counts) { c.failures = append(c.failures, c.failures[0]) }),
		"in flight twice":   one(func(c *Counts) { c.inFlight = append(c.inFlight, c.inFlight[0]) }),
	} {
		if _, err := ReadCounts(data); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func FuzzReadCounts(f *testing.F) {
	m := NewMetrics("c")
	_ = m.Write(rows())
	m.InFlight(map[string]int{"GET": 3})
	f.Add(m.Counts().plain())
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := m.Counts().plain()
		b[r.IntN(len(b))] = byte(r.Uint32())
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		if c, err := ReadCounts(deflate(t, plain)); err == nil {
			exposed(t, ClientCounts{"c", c})
		}
	})
}

// The cost of a row does not depend on the number of endpoints.
func BenchmarkMetrics(b *testing.B) {
	for _, hosts := range []int{1, 32} {
		b.Run(fmt.Sprint(hosts, " endpoints"), func(b *testing.B) {
			rows := make([]oplog.Record, 1024)
			for i := range rows {
				rows[i] = oplog.Record{Op: "GET", Endpoint: fmt.Sprintf("http://10.0.0.%d:9000", i%hosts), Duration: time.Millisecond, Bytes: 1, Objects: 1}
				if i%2 == 1 {
					rows[i].Err = "SlowDown: reduce your request rate"
				}
			}
			m := NewMetrics("client")
			b.ReportAllocs()
			for i := 0; i < b.N; i += len(rows) {
				_ = m.Write(rows)
			}
		})
	}
}
