package oplog_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
)

// TestMarks reads marks between the rows where they were written, whatever their text.
func TestMarks(t *testing.T) {
	var log bytes.Buffer
	w, err := oplog.NewWriter(&log, oplog.Header{Warp: "test"})
	check.OK(t, err)
	texts := []string{"disk pulled", `quotes " and \ and a tab	`, "line\nbreak \x1b[31m # {\"end\":\"completed\"}", "läuft 走る"}
	clean := []string{"disk pulled", `quotes " and \ and a tab`, "line break  [31m # {\"end\":\"completed\"}", "läuft 走る"}
	var want []string
	for i, text := range texts {
		m := oplog.Mark{At: int64(i+1)*1e9 + 123456789, Text: text}
		check.OK(t, w.AddMark(m))
		want = append(want, fmt.Sprint(oplog.Mark{m.At, clean[i]}))
		for range 2 {
			check.OK(t, w.Write([]oplog.Record{{Op: "GET", Client: "c", Start: int64(i+1) * 2e9, Duration: time.Second}}))
			want = append(want, fmt.Sprint("row ", i))
		}
	}
	last := oplog.Mark{At: 99e9, Text: "at the end"}
	check.OK(t, w.AddMark(last))
	want = append(want, fmt.Sprint(last))
	check.OK(t, w.Close(oplog.Trailer{End: "completed"}))
	r, err := oplog.NewReader(&log, "test")
	check.OK(t, err)
	var got []string
	seen := 0
	err = r.EachInWindow(t.Context(), func(_ oplog.Window, marks []oplog.Mark) {
		for _, m := range marks[seen:] {
			got = append(got, fmt.Sprint(m))
		}
		seen = len(marks)
	}, func(batch []oplog.Record) error {
		for i := range batch {
			got = append(got, fmt.Sprint("row ", batch[i].Start/2e9-1))
		}
		return nil
	})
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("error %v, read\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(r.Comments()) > 0 {
		t.Errorf("unknown comments: %q", r.Comments())
	}
}

// TestTooManyMarks keeps a bounded number of marks of a bounded length.
func TestTooManyMarks(t *testing.T) {
	log := "thread\top\tn_objects\tbytes\terror\tstart\tend\n"
	for i := range oplog.MaxMarks + 7 {
		log += fmt.Sprintf("# {\"mark\":{\"at\":\"2026-01-31T12:00:00.%09dZ\",\"text\":%q}}\n", i, strings.Repeat("é", 2*oplog.MaxMarkText))
	}
	r, err := oplog.NewReader(strings.NewReader(log), "test")
	check.OK(t, err)
	if _, err := r.Read(make([]oplog.Record, 1)); err == nil {
		t.Error("a row was read")
	}
	if n := len(r.Marks()); n != oplog.MaxMarks || len([]rune(r.Marks()[0].Text)) != oplog.MaxMarkText || r.Marks()[5].At%1e9 != 5 {
		t.Errorf("%d marks, the first %v", n, r.Marks()[0])
	}
	if w := strings.Join(r.Warnings(), "\n"); !strings.Contains(w, "107 marks") {
		t.Errorf("warnings %q", w)
	}
}

func TestMarkText(t *testing.T) {
	for text, want := range map[string]string{
		" disk\r\npulled ": "disk  pulled", "": "", " \x00\t": "", "\xff": "\uFFFD",
		strings.Repeat("ü", oplog.MaxMarkText): strings.Repeat("ü", oplog.MaxMarkText), strings.Repeat("u", oplog.MaxMarkText+1): "",
	} {
		if got, err := oplog.MarkText(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
