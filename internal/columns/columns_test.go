package columns

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func table() []Column {
	return []Column{
		{Title: "", Drop: 0, Cells: []string{"GET", "http://a-long-name.example:9000"}},
		{Title: "errors", Drop: 0, Cells: []string{"0", "12,345"}},
		{Title: "MiB/s", Drop: 2, Cells: []string{"1234.5", "-"}},
		{Title: "p99", Drop: 1, Cells: []string{"8.42ms", "812µs"}},
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		80: "                                 errors   MiB/s     p99\n" +
			"GET                                   0  1234.5  8.42ms\n" +
			"http://a-long-name.example:9000  12,345       -   812µs",
		50: "                                 errors     p99\n" +
			"GET                                   0  8.42ms\n" +
			"http://a-long-name.example:9000  12,345   812µs",
		20: "              errors\n" +
			"GET                0\n" +
			"http://a-lo…  12,345",
		10: "        e…\nGET      …\nhttp:…  1…",
	} {
		if got := strings.Join(Fit(table(), width, nil), "\n"); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
	for width := 1; width < 100; width++ {
		for _, line := range Fit(table(), width, nil) {
			if utf8.RuneCountInString(line) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
}

// The names of groups are over their columns, and keep their width.
func TestGroups(t *testing.T) {
	t.Parallel()
	all := table()
	all[2].Group, all[1].Group, all[3].Group = "now", "whole run", "whole run, and more than fits"
	for width, want := range map[int]string{
		80: strings.Repeat(" ", 31) + "  whole…  now ──  whole…\n",
		40: strings.Repeat(" ", 31) + "  whole…\n",
	} {
		if got := strings.Join(Fit(all, width, nil), "\n"); !strings.HasPrefix(got, want) {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// Colors take no room.
func TestPaint(t *testing.T) {
	t.Parallel()
	lines := Fit(table(), 80, func(row int, title, cell string) string {
		if row == 1 && title == "errors" {
			return "<" + cell + ">"
		}
		return cell
	})
	if want := "http://a-long-name.example:9000  <12,345>       -   812µs"; lines[2] != want {
		t.Errorf("%q", lines[2])
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	parts := []Part{{"GET", 0}, {"", 0}, {"64 KiB", 2}, {"12s", 1}, {"0 errors", 0}}
	for width, want := range map[int]string{
		80: "GET  64 KiB  12s  0 errors", 26: "GET  64 KiB  12s  0 errors", 25: "GET  12s  0 errors", 17: "GET  0 errors", 9: "GET  0 e…",
	} {
		if got := Line(parts, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}
