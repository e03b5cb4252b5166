package field

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pad returns text with enough after it for the functions called Next.
func pad(s string) []byte { return []byte(s + strings.Repeat("\n", Room)) }

// A time is parsed as the standard library parses it, by Parse, Next and NextFour alike.
func TestTimesAsTheStandardLibrary(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	var any, next, four TimeParser
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for i := range 20_000 {
		if i%50 == 0 {
			at = time.Date(1700+rng.IntN(500), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60), 0, time.UTC)
		}
		at = at.Truncate(time.Second).Add(time.Duration(rng.Int64N(2e9) - 5e8))
		layout := []string{"2006-01-02T15:04:05.000000000Z", time.RFC3339Nano}[rng.IntN(2)]
		when := at
		if rng.IntN(5) == 0 {
			when = at.In(time.FixedZone("", (rng.IntN(24*60)-12*60)*60))
		}
		text, want := when.Format(layout), at.UnixNano()
		if layout != time.RFC3339Nano {
			text = at.Format(layout)
		}
		if got, ok := any.Parse([]byte(text)); !ok || got != want {
			t.Fatalf("%s: %d, %v", text, got, ok)
		}
		if got, end := next.Next(pad(text+"\t"), 0); got != want || end != len(text)+1 {
			t.Fatalf("%s: %d up to %d", text, got, end)
		}
		var times [4]int64
		end := four.NextFour(pad(text+"\t\t"+text+"\t"+text+"\t"), 0, &times)
		if times != [4]int64{want, NoTime, want, want} || end != 3*len(text)+4 {
			t.Fatalf("%s: %d up to %d", text, times, end)
		}
	}
}

// A fuzzed field is parsed as the standard library parses it, or not at all.
func FuzzNext(f *testing.F) {
	f.Add("2026-05-01T12:00:00.123456789Z", "2026-05-01T12:00:00.5Z", "12")
	f.Add("2026-05-01T12:00:00+01:00", strings.Repeat("\x00", 20)+"123456789Z", "123456789012345678")
	f.Add("", "x", "a\tb")
	f.Fuzz(func(t *testing.T, first, second, other string) {
		var p TimeParser
		for _, s := range []string{first, second} {
			at, err := time.Parse(time.RFC3339Nano, s)
			if ns, ok := p.Parse([]byte(s)); ok && (err != nil || ns != at.UnixNano()) {
				t.Fatalf("Parse(%q) = %d, %v", s, ns, err)
			}
			if ns, end := p.Next(pad(s+"\t"), 0); end == len(s)+1 && ns != NoTime && (err != nil || ns != at.UnixNano()) {
				t.Fatalf("Next(%q) = %d, %v", s, ns, err)
			}
		}
		want, err := strconv.ParseUint(other, 10, 64)
		if n, end := NextNumber(pad(other+"\t"), 0, '\t'); end == len(other)+1 && (err != nil || n != want) {
			t.Fatalf("NextNumber(%q) = %d, %v", other, n, err)
		}
		if end := NextText(pad(other+"\t"), 0); end != NoMatch && end != strings.IndexByte(other+"\t", '\t')+1 {
			t.Fatalf("NextText(%q) = %d", other, end)
		}
	})
}

// Tabs finds what a loop over the bytes finds.
func TestTabs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	for range 5000 {
		line := make([]byte, rng.IntN(40))
		for i := range line {
			line[i] = "\t\t\x00\x01\x08\x09\x0a ab\x80\xff"[rng.IntN(12)]
		}
		at := make([]int, 5)
		n, nul := Tabs(line, at)
		if n != bytes.Count(line, []byte{'\t'}) || nul != (bytes.IndexByte(line, 0) >= 0) {
			t.Fatalf("%q: %d tabs, %v", line, n, nul)
		}
		place := 0
		for i := range min(n, len(at)) {
			place += bytes.IndexByte(line[place:], '\t')
			if at[i] != place {
				t.Fatalf("%q: tabs at %d", line, at)
			}
			place++
		}
	}
}

// Quoted text comes back as it was.
func TestQuotedText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "a\tb", "a\nb", `"`, `a"b`, `""`, "a\r", strings.Repeat("x", 30) + "\t"} {
		line := AppendText(nil, s)
		if end := End(append(line, "\tnext"...), 0); end != len(line) {
			t.Errorf("%q: the field ends at %d of %q", s, end, line)
		}
		if got := Unquote([][]byte{line}); string(got[0]) != s {
			t.Errorf("%q became %q", s, got[0])
		}
	}
	if got := string(AppendText(nil, "a\x00b")); got != "a\uFFFDb" {
		t.Errorf("a NUL became %q", got)
	}
}
