package merge

import (
	"testing"

	"warp/pkg/oplog"
)

func TestChecksOutliveTheMerge(t *testing.T) {
	t.Parallel()
	want := oplog.Record{Op: "PUT", Start: 7, Check: &oplog.Check{Property: "create", Outcome: "won", Condition: "absent", Sent: "0-0-1:1", Received: "x"}}
	var got oplog.Record
	x := rowDecoder{}
	if err := x.decode(&row{At: 7, Body: appendBody(nil, &want)}, &got); err != nil || got.Check == nil || *got.Check != *want.Check {
		t.Errorf("%+v, %v", got.Check, err)
	}
	both := combineChecks(&oplog.Checks{Properties: []string{"create"}}, &oplog.Checks{Properties: []string{"create", "whole"}, Unordered: true})
	if len(both.Properties) != 2 || !both.Unordered || combineChecks(nil, both) != both {
		t.Errorf("%+v", both)
	}
}
