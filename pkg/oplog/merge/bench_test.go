package merge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

// Two clients, with almost no simultaneous starts, or only simultaneous starts as in logs of a
// coarse clock.
func BenchmarkMerge(b *testing.B) {
	b.Run("apart", func(b *testing.B) { benchMerge(b, 1234) })
	b.Run("together", func(b *testing.B) { benchMerge(b, 0) })
}

func benchMerge(b *testing.B, apart int64) {
	const rows = 500_000
	dir := b.TempDir()
	var names []string
	for i, client := range []string{"A", "B"} {
		name := filepath.Join(dir, fmt.Sprint(i))
		f, err := os.Create(name)
		check.OK(b, err)
		w, err := oplog.NewWriter(f, oplog.Header{Warp: "1", Run: "r", Client: client})
		check.OK(b, err)
		records := testlog.Downloads(rows)
		for k := range records {
			records[k].Client = client
			records[k].Start += int64(i) * apart
		}
		check.OK(b, errors.Join(w.Write(records), w.Close(testlog.Trailer()), f.Close()))
		names = append(names, name)
	}
	start := hostload.CPUTime()
	b.ResetTimer()
	for i := range b.N {
		if _, err := Logs(b.Context(), filepath.Join(dir, fmt.Sprint("out", i)), names, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(hostload.CPUTime()-start)/float64(b.N)/(2*rows), "cpu-ns/row")
}
