package human

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestUnits(t *testing.T) {
	t.Parallel()
	for ms, want := range map[float64]string{
		0: "0s", 1e-6: "1ns", .000999: "999ns", .312: "312µs", .9997: "1.00ms", 4.016: "4.02ms", 99.96: "100ms",
		999.6: "1.00s", 1250: "1.25s", 59940: "59.9s", 59960: "1m", 75000: "1m15s", 3600e3: "1h", -.0021: "-2.10µs",
	} {
		if got := Millis(ms); got != want {
			t.Errorf("%v ms: got %s, want %s", ms, got, want)
		}
	}
	for bytes, want := range map[float64]string{
		0: "0.0B/s", 1124.8: "1124.8B/s", 1534.6 * 1024: "1534.6KiB/s", 9.7 * MiB: "9.7MiB/s", 4812.4 * MiB: "4812.4MiB/s", 20 << 30: "20.0GiB/s",
	} {
		if got := SegmentUnit(bytes).Speed(bytes); got != want {
			t.Errorf("%v bytes/s: got %s, want %s", bytes, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 5 * time.Minute: "5m", time.Hour: "1h", 90 * time.Second: "1m30s", 10 * time.Minute: "10m",
		time.Hour + time.Second: "1h0m1s", 20 * time.Second: "20s", 100 * time.Millisecond: "100ms",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		Plural(1, "row"): "1 row", Plural(0, "row"): "0 rows", Count(2, "row is", "rows are"): "2 rows are",
		Choose(1, "is", "are"): "is", OneLine("a\nb\x1b[1m\u202ec"): "a b [1m c", UpperFirst("élan"): "Élan", UpperFirst(""): "",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A stall of one second of hundreds is seen in every width.
func TestSparklineShowsStall(t *testing.T) {
	t.Parallel()
	values := make([]float64, 400)
	for i := range values {
		values[i] = 1000 + float64(i%7)
	}
	values[123] = 0
	for _, width := range []int{8, 13, 60, 400, 500} {
		line := Sparkline(values, width)
		if n := utf8.RuneCountInString(line); n > width || strings.Count(line, "▁") != 1 {
			t.Errorf("%d columns: %s", width, line)
		}
	}
	if line := Sparkline(nil, 8); line != "" {
		t.Errorf("of nothing: %q", line)
	}
	if line := Sparkline([]float64{0, 0}, 8); line != "▁▁" {
		t.Errorf("of zeros: %q", line)
	}
	if line := Sparkline([]float64{1}, -3); line != "" {
		t.Errorf("without room: %q", line)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0", 2.5: "2.5", 183.75: "183.8", 7500: "7,500", 43749.6: "43,750", 1e8: "100,000,000"} {
		if got := Number(x, 4); got != want {
			t.Errorf("%v became %s, want %s", x, got, want)
		}
	}
}

func TestWholePercent(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0: "0", .0001: "<1", .004: "<1", .0099: "<1", .01: "1", .456: "46", 1: "100"} {
		if got := WholePercent(share); got != want {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
}
