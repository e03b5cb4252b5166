package field

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Numbers and times are as the standard library writes them.
func TestFormatsNumbersAndTimes(t *testing.T) {
	t.Parallel()
	numbers := []uint64{0, math.MaxUint64, math.MaxInt64}
	for n := uint64(1); n < 1e19; n *= 10 {
		numbers = append(numbers, n-1, n, n+1, n*9)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for range 20_000 {
		numbers = append(numbers, rng.Uint64()>>rng.IntN(64))
	}
	var f TimeFormatter
	for _, n := range numbers {
		if got, want := string(AppendNumber([]byte("x"), n)), "x"+strconv.FormatUint(n, 10); got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
		ns := int64(n)
		if got, want := string(f.Append([]byte("x"), ns)), "x"+time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z"); got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
	}
}

// A field is quoted if it needs quotes, wherever the reason occurs in it, and otherwise not.
func TestQuotesWhereNeeded(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 20 {
			s := []byte(strings.Repeat("k", 20))
			s[at] = byte(c)
			want := string(s)
			switch c {
			case '\t', '\n', '\r':
				want = `"` + want + `"`
			case '"':
				want = `"` + strings.ReplaceAll(want, `"`, `""`) + `"`
			case 0:
				want = strings.ReplaceAll(want, "\x00", "\uFFFD")
			}
			if got := string(AppendText(nil, string(s))); got != want {
				t.Errorf("%q instead of %q", got, want)
			}
		}
	}
}
