package oplog

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// scriptRecords are records of a script's statements, of which a few belong to none.
func scriptRecords(seed uint64, n int, run, client string) []Record {
	records := testRecords(rand.New(rand.NewPCG(seed, 11)), n, run, client)
	for i := range records {
		number := uint16(i * 4 / n)
		records[i].Statement = Statement{number, number > 0 && i%5 == 0}
	}
	return records
}

func scriptHeader(run, client string) Header {
	h := testHeader
	h.Run, h.Client, h.Statements = run, client, []string{"PUT 1 OBJECTS", "GET 1 OBJECTS", "DELETE"}
	return h
}

// scriptLog is usual text with the column of scripts.
func scriptLog(n int) []byte {
	records := benchRecords(n)
	var text bytes.Buffer
	text.WriteString(columns + statementColumn + "\n")
	f := rowFormatter{scripted: true}
	for i := range records {
		records[i].Statement = Statement{uint16(1 + i*3/n), i%100 == 7}
		text.Write(f.append(nil, &records[i]))
	}
	return text.Bytes()
}

func TestStatements(t *testing.T) {
	t.Parallel()
	records := scriptRecords(3, 300, "run1", "c")
	log := writeLog(t, scriptHeader("run1", "c"), testTrailer, records, 77)
	r, got, err := readAll(log, 50)
	if err != nil || strings.Join(r.Header().Statements, ";") != "PUT 1 OBJECTS;GET 1 OBJECTS;DELETE" {
		t.Fatalf("%v, header %+v", err, r.Header())
	}
	for i := range records {
		records[i].Run = "run1"
	}
	sameRecords(t, got, records)
	if first, _, _ := strings.Cut(string(unzstd(t, log)), "\n"); first != columns+statementColumn {
		t.Errorf("columns %q", first)
	}
	if n := bothWays(t, scriptLog(2000)); n < 1980 {
		t.Errorf("%d of 2000 rows were fast", n)
	}
}

func TestStatementErrors(t *testing.T) {
	t.Parallel()
	row := strings.TrimSuffix(string(scriptLog(1)[len(columns)+len(statementColumn)+1:]), "\t1\n")
	for field, ok := range map[string]bool{"": true, "1": true, "65535": true, "2-warmup": true,
		"0": false, "65536": false, "-1": false, "2-warm": false, "-warmup": false, "x": false, "0-warmup": false, "1 ": false} {
		_, _, err := readAll([]byte(columns+statementColumn+"\n"+row+"\t"+field+"\n"), 1)
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "line 2, column statement") {
			t.Errorf("%q: %v", field, err)
		}
	}
}
