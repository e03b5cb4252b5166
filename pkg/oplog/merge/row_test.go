package merge

import (
	"errors"
	"math/rand/v2"
	"testing"

	"warp/internal/extsort"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// A row encodes all of its record.
func TestRowRoundTrip(t *testing.T) {
	t.Parallel()
	var d rowDecoder
	for _, want := range oddRecords(rand.New(rand.NewPCG(8, 2)), 3000, "", "c") {
		var got oplog.Record
		r := row{At: want.Start, Body: appendBody(nil, &want)}
		if err := d.decode(&r, &got); err != nil || threadOf(&r) != want.Thread {
			t.Fatal(err, threadOf(&r))
		}
		testlog.Same(t, []oplog.Record{got}, []oplog.Record{want})
	}
}

// Damaged rows cause an error or wrong records, but no panic.
func TestDamagedRow(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 8))
	records := oddRecords(rng, 300, "", "c")
	failed := 0
	var d rowDecoder
	for i := range records {
		body := appendBody(nil, &records[i])
		if i%3 == 0 {
			body = body[:rng.IntN(len(body))]
		} else {
			body[rng.IntN(len(body))] = byte(rng.Uint32())
		}
		r := row{At: 7, Body: body}
		_ = threadOf(&r)
		if err := d.decode(&r, new(oplog.Record)); errors.Is(err, extsort.ErrDamaged) {
			failed++
		}
	}
	if failed < 100 {
		t.Errorf("%d of 300 were found damaged", failed)
	}
}
