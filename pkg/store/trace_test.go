package store

import (
	"testing"
)

func TestTraceAdd(t *testing.T) {
	t.Parallel()
	sum := Trace{firstByte: 5, lastByte: 3, status: 200, requests: 1}
	sum.Add(&Trace{firstByte: 9, lastByte: 8, status: 503, requests: 2})
	sum.Add(&Trace{}) // no answer
	if sum != (Trace{firstByte: 5, lastByte: 8, status: 503, requests: 3}) {
		t.Errorf("%+v", sum)
	}
	sum.Add(&Trace{requests: 65535})
	if sum.Requests() != 65535 {
		t.Errorf("%d requests", sum.Requests())
	}
}
