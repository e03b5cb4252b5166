package accesslog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/workload"
)

func logOf(name, text string) Log {
	return Log{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// Requests of machines that worked at the same time come in the order of time, whatever the order of the logs.
func TestReadAll(t *testing.T) {
	t.Parallel()
	const machines, requests = 3, 300
	begin := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	var texts [machines]strings.Builder
	for i := range requests {
		fmt.Fprintln(&texts[i%machines], textLine(begin.Add(time.Duration(i)*time.Second), "REST.GET.OBJECT", "k", "200", 10, 10))
	}
	stdin := logOf("stdin", texts[1].String())
	stdin.Once = true
	later := logOf("later", textLine(begin.Add(requests*time.Second), "REST.HEAD.OBJECT", "k", "200", 0, 10))
	var second []int64
	_, err := readAll(t.Context(), []Log{later, logOf("c", texts[2].String()), stdin, logOf("a", texts[0].String())}, workload.NewCollector(),
		func(r *workload.Request) { second = append(second, r.Start/1e9-begin.Unix()) })
	check.OK(t, err)
	if len(second) != requests+1 || !slices.IsSorted(second) {
		t.Errorf("%d", second)
	}
}

// What is wrong with one of several logs is an error, also while others are open.
func TestReadAllErrors(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	line := func(s time.Duration) string {
		return textLine(at.Add(s*time.Second), "REST.GET.OBJECT", "k", "200", 1, 1) + "\n"
	}
	good := logOf("good", line(0)+line(9))
	missing := Log{Name: "missing", Open: func() (io.ReadCloser, error) { return nil, os.ErrNotExist }}
	if _, err := ReadAll(t.Context(), []Log{good, missing}, workload.NewCollector()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for text, want := range map[string]string{"?": "bad: this is not a log", line(1) + "?\n" + line(2): "bad: 1 of 3 lines"} {
		if _, err := ReadAll(t.Context(), []Log{good, logOf("bad", text)}, workload.NewCollector()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	warnings, err := ReadAll(t.Context(), []Log{good, logOf("cut", line(3)+line(4)[:50])}, workload.NewCollector())
	if err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "cut: ") {
		t.Errorf("%v, %q", err, warnings)
	}
}
