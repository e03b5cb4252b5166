package aggregate

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"warp/pkg/oplog"
)

// What was counted while a log was written is what analyze finds in the log.
func TestAlongsideEqualsAnalyze(t *testing.T) {
	t.Parallel()
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		alongside(t, rows, Options{})
	})
	rows := loads()["get"].make(1)
	if n := alongside(t, rows, Options{}); n != 0 {
		t.Errorf("an ordinary log was read %d times", n)
	}
	for name, spoil := range map[string]func(r *oplog.Record){
		"first byte behind the end": func(r *oplog.Record) { r.FirstByte = r.Duration + 1 },
		"a NUL":                     func(r *oplog.Record) { r.Err = "Odd\x00Code: of a store" },
	} {
		odd := slices.Clone(rows)
		spoil(&odd[len(odd)/2])
		t.Run(name, func(t *testing.T) {
			if alongside(t, odd, Options{}) == 0 {
				t.Error("the log was not read")
			}
		})
	}
}

// alongside compares, and says how often the log had to be read.
func alongside(t *testing.T, rows []oplog.Record, o Options) (passes int) {
	t.Helper()
	for i := range rows {
		rows[i].Run = rows[0].Run // a log that is being written is of one run
	}
	var file bytes.Buffer
	w, err := oplog.NewWriter(&file, oplog.Header{Warp: "1", Run: rows[0].Run, Client: rows[0].Client})
	if err != nil {
		t.Fatal(err)
	}
	a := NewAlongside(o)
	for batch := range slices.Chunk(rows, 100) {
		_ = a.Write(batch)
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	written := w.Rows()
	if err := w.Close(oplog.Trailer{End: "completed"}); err != nil {
		t.Fatal(err)
	}
	src := func(yield func([]oplog.Record) error) error {
		passes++
		r, err := oplog.NewReader(bytes.NewReader(file.Bytes()), "log")
		if err != nil {
			return err
		}
		defer r.Close()
		return r.Each(context.Background(), yield)
	}
	want, err := Analyze(src, o)
	if err != nil {
		t.Fatal(err)
	}
	passes = 0
	got, err := a.Report(src, written)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "alongside", render(t, got), render(t, want))
	return passes
}
