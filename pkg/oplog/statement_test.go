package oplog_test

import (
	"bytes"
	"strings"
	"testing"

	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// scriptLog is usual text with the column of scripts.
func scriptLog(n int) []byte {
	records := testlog.Downloads(n)
	var text bytes.Buffer
	f := oplog.ScriptText()
	text.Write(f.AppendColumns(nil))
	for i := range records {
		records[i].Statement = oplog.Statement{Number: uint16(1 + i*3/n), WarmUp: i%100 == 7}
		text.Write(f.AppendRow(nil, &records[i]))
	}
	return text.Bytes()
}

func TestStatements(t *testing.T) {
	t.Parallel()
	records := testlog.ScriptRecords(3, 300, "run1", "c")
	log := testlog.Encode(t, testlog.ScriptHeader("run1", "c"), testlog.Trailer(), records, 77)
	r, got, err := testlog.Decode(log, 50)
	if err != nil || strings.Join(r.Header().Statements, ";") != "PUT 1 OBJECTS;GET 1 OBJECTS;DELETE" {
		t.Fatalf("%v, header %+v", err, r.Header())
	}
	for i := range records {
		records[i].Run = "run1"
	}
	testlog.Same(t, got, records)
	if first, _, _ := strings.Cut(string(testlog.Unzstd(t, log)), "\n"); first != oplog.Columns+oplog.StatementColumn {
		t.Errorf("columns %q", first)
	}
	if n := bothWays(t, scriptLog(2000)); n < 1980 {
		t.Errorf("%d of 2000 rows were fast", n)
	}
}

func TestStatementErrors(t *testing.T) {
	t.Parallel()
	row := strings.TrimSuffix(string(scriptLog(1)[len(oplog.Columns)+len(oplog.StatementColumn)+1:]), "\t1\n")
	for field, ok := range map[string]bool{"": true, "1": true, "65535": true, "2-warmup": true,
		"0": false, "65536": false, "-1": false, "2-warm": false, "-warmup": false, "x": false, "0-warmup": false, "1 ": false} {
		_, _, err := testlog.Decode([]byte(oplog.Columns+oplog.StatementColumn+"\n"+row+"\t"+field+"\n"), 1)
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "line 2, column statement") {
			t.Errorf("%q: %v", field, err)
		}
	}
}
