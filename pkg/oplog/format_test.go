package oplog

import (
	"math"
	"math/rand/v2"
	"strconv"
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
	var f timeFormatter
	for _, n := range numbers {
		if got, want := string(appendNumber([]byte("x"), n)), "x"+strconv.FormatUint(n, 10); got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
		ns := int64(n)
		if got, want := string(f.append([]byte("x"), ns)), "x"+time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z"); got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
	}
}
