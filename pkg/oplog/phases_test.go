package oplog_test

import (
	"strings"
	"testing"

	"warp/internal/testlog"
	"warp/pkg/oplog"
	"warp/pkg/oplog/field"
)

func TestPhaseErrors(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"": true, ",,,,,": true, "1,2,3,4,5,6": true, ",,,,,9223372036854775807": true,
		"1": false, ",,,,": false, ",,,,,,": false, ",,,,,x": false, ",,,,,-1": false, ", ,,,,": false, ",,,,,9223372036854775808": false} {
		row := "0\t1\tGET\tc\t1\t5\thttp://h\tkey\t\t2026-05-01T12:00:00Z\t\t\t\t5\t0\t\t200\t0\t" + text + "\t1\t\n"
		log := []byte(oplog.Columns + "\n" + row + strings.Repeat("\n", 2*field.Room))
		_, _, err := testlog.Decode(log, 1)
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "line 2, column phases_ns") {
			t.Errorf("%q: %v", text, err)
		}
		bothWays(t, log)
	}
}
