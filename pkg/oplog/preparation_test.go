package oplog

import "testing"

// A request belongs to the preparation if it started before the measured part of its own run, and if the log says when that began.
func TestPreparation(t *testing.T) {
	t.Parallel()
	merged := &Header{Merged: []Origin{
		{Run: "r", Client: "a", Window: &Window{Start: 10}}, {Run: "r", Client: "b", Window: &Window{Start: 20}},
		{Run: "r", Client: "ended before", Window: &Window{}}, {Run: "r", Client: "cut off"},
	}}
	for name, test := range map[string]struct {
		header *Header
		window Window
		record Record
		want   bool
	}{
		"before":                {&Header{Windowed: true}, Window{Start: 10}, Record{Start: 9}, true},
		"measured":              {&Header{Windowed: true}, Window{Start: 10}, Record{Start: 10}, false},
		"not decided yet":       {&Header{Windowed: true}, Window{}, Record{Start: 9}, true},
		"a script":              {&Header{Windowed: true}, Window{}, Record{Start: 9, Statement: Statement{Number: 1}}, false},
		"another tool":          {&Header{}, Window{}, Record{Start: 9}, false},
		"the early client":      {merged, Window{Start: 10}, Record{Start: 15, Run: "r", Client: "a"}, false},
		"the late client":       {merged, Window{Start: 10}, Record{Start: 15, Run: "r", Client: "b"}, true},
		"only preparation":      {merged, Window{Start: 10}, Record{Start: 99, Run: "r", Client: "ended before"}, true},
		"a log that is cut off": {merged, Window{Start: 10}, Record{Start: 1, Run: "r", Client: "cut off"}, false},
	} {
		p := NewPreparation(test.header)
		p.Decided(test.window)
		if got := p.Has(&test.record); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
