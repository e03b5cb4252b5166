package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// benchRecords are rows as a GET run of small objects makes them, in the order
// of completion.
func benchRecords(n int) []Record {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]string, 2500)
	for i := range keys {
		keys[i] = fmt.Sprintf("%08x/%d.%016x.rnd", rng.Uint32(), i%64, rng.Uint64())
	}
	records := make([]Record, n)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixNano()
	for i := range records {
		now += rng.Int64N(24_000)
		d := 60_000 + rng.Int64N(200_000)
		records[i] = Record{Op: "GET", Client: "k3Xq", Endpoint: "http://127.0.0.1:9000",
			Key: keys[rng.IntN(len(keys))], Thread: uint32(rng.IntN(32)), Objects: 1, Bytes: 1024,
			Start: now - d, FirstByte: time.Duration(d - 3000 - rng.Int64N(2000)), Duration: time.Duration(d),
			Status: 200, Requests: 1}
	}
	return records
}

func benchLog(b *testing.B, n int) []byte {
	b.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{Warp: "test", Run: "r", Client: "k3Xq"})
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Write(benchRecords(n)); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(Trailer{End: "completed"}); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

func BenchmarkRead(b *testing.B) {
	const rows = 500_000
	log := benchLog(b, rows)
	for _, skip := range []bool{false, true} {
		b.Run(fmt.Sprintf("skipkeys=%v", skip), func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]Record, 1024)
			start := cpuTime()
			for range b.N {
				r, err := NewReader(io.MultiReader(bytes.NewReader(log)), "bench")
				if err != nil {
					b.Fatal(err)
				}
				r.SkipKeys = skip
				n := 0
				for {
					k, err := r.Read(dst)
					n += k
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				if n != rows {
					b.Fatalf("%d rows", n)
				}
				_ = r.Close()
			}
			total := float64(b.N) * rows
			b.ReportMetric(float64(cpuTime()-start)/total, "cpu-ns/row")
			b.ReportMetric(float64(b.Elapsed())/total, "ns/row")
			b.ReportMetric(float64(len(log))/rows, "bytes/row")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	const rows = 200_000
	records := benchRecords(rows)
	b.ReportAllocs()
	start := cpuTime()
	for range b.N {
		w, err := NewWriter(io.Discard, Header{Warp: "test"})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Write(records); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(Trailer{End: "completed"}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-start)/float64(b.N)/rows, "cpu-ns/row")
}
