package oplog_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

func benchLog(b *testing.B, n int) []byte {
	b.Helper()
	var out bytes.Buffer
	w, err := oplog.NewWriter(&out, oplog.Header{Warp: "test", Run: "r", Client: "k3Xq"})
	check.OK(b, err)
	check.OK(b, w.Write(testlog.Downloads(n)))
	check.OK(b, w.Close(oplog.Trailer{End: "completed"}))
	return out.Bytes()
}

func BenchmarkRead(b *testing.B) {
	const rows = 500_000
	log := benchLog(b, rows)
	b.ReportAllocs()
	dst := make([]oplog.Record, 1024)
	start := hostload.CPUTime()
	for range b.N {
		r, err := oplog.NewReader(io.MultiReader(bytes.NewReader(log)), "bench")
		check.OK(b, err)
		n := 0
		for {
			k, err := r.Read(dst)
			n += k
			if errors.Is(err, io.EOF) {
				break
			}
			check.OK(b, err)
		}
		if n != rows {
			b.Fatalf("%d rows", n)
		}
		_ = r.Close()
	}
	total := float64(b.N) * rows
	b.ReportMetric(float64(hostload.CPUTime()-start)/total, "cpu-ns/row")
	b.ReportMetric(float64(b.Elapsed())/total, "ns/row")
	b.ReportMetric(float64(len(log))/rows, "bytes/row")
}

func BenchmarkWrite(b *testing.B) {
	const rows = 200_000
	records := testlog.Downloads(rows)
	b.ReportAllocs()
	start := hostload.CPUTime()
	for range b.N {
		w, err := oplog.NewWriter(io.Discard, oplog.Header{Warp: "test"})
		check.OK(b, err)
		check.OK(b, w.Write(records))
		check.OK(b, w.Close(oplog.Trailer{End: "completed"}))
	}
	b.ReportMetric(float64(hostload.CPUTime()-start)/float64(b.N)/rows, "cpu-ns/row")
}
