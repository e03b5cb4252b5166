package oplog_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"

	"github.com/klauspost/compress/zstd"
)

// The text is the same as in the log, but for the comments.
func TestTextIsThatOfTheLog(t *testing.T) {
	t.Parallel()
	records := []oplog.Record{
		{Op: "GET", Client: "c", Endpoint: "http://h:1", Key: "a\tb\n\"c\"", Objects: 1, Bytes: 5, Start: 1e18, FirstByte: 3, Duration: 9, Status: 200, Requests: 1},
		{Op: "PUT", Client: "c", Endpoint: "http://h:2", Key: "k", Err: "SlowDown: later", Thread: 7, Start: 1e18 + 12345, Due: 1e18 + 1, Duration: time.Second, Retries: 2},
	}
	var file bytes.Buffer
	w, err := oplog.NewWriter(&file, oplog.Header{Run: "r"})
	check.OK(t, err)
	check.OK(t, w.Write(records))
	check.OK(t, w.Close(oplog.Trailer{End: "completed"}))
	dec, err := zstd.NewReader(&file)
	check.OK(t, err)
	defer dec.Close()
	whole, err := io.ReadAll(dec)
	check.OK(t, err)
	var want strings.Builder
	for line := range strings.Lines(string(whole)) {
		if !strings.HasPrefix(line, "# ") {
			want.WriteString(line)
		}
	}
	var text oplog.Text
	got := text.AppendColumns(nil)
	for i := range records {
		got = text.AppendRow(got, &records[i])
	}
	if string(got) != want.String() {
		t.Errorf("%q, and the log has %q", got, want.String())
	}
}
