package exports

import (
	"testing"

	"warp/pkg/sink"
)

// A run that fails before its end closes its exports once.
func TestEndOfFailedRun(t *testing.T) {
	t.Parallel()
	e := &openExport{}
	all := Exports{Exports: &sink.Exports{All: []sink.Export{e}}}
	all.End(t.Context(), nil)
	all.End(t.Context(), nil)
	if e.closed != 1 {
		t.Errorf("closed %d times", e.closed)
	}
}

type openExport struct {
	sink.Export
	closed int
}

func (e *openExport) Close() (lost string) {
	e.closed++
	return ""
}
