package conformance

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/workload"
)

func readProfile(t *testing.T, path string) *workload.Profile {
	t.Helper()
	f, err := os.Open(path)
	check.OK(t, err)
	defer f.Close()
	p, err := workload.Read(f)
	check.OK(t, err)
	return p
}

// The log of a load like a profile gives the profile back: mix, sizes, popularity and rate, which --scale doubles.
func TestLike(t *testing.T) {
	t.Parallel()
	store := recordedStore(t)
	folder := t.TempDir()
	to := []string{"--host=" + store.Endpoint, "--access-key=k", "--secret-key=s", "--quiet", "--concurrent=40"}
	profile := func(name string, args ...string) *workload.Profile {
		name = filepath.Join(folder, name)
		warp(slices.Concat(args, to, []string{"--benchdata=" + name})...).want(t, 0)
		warp("workload", name+".csv.zst", "-o", name+".json").want(t, 0)
		return readProfile(t, name+".json")
	}
	first := profile("first", "mixed", "--pick=zipf:1", "--objects=200", "--obj.size=exact:1KiB:60,4KiB:30,20KiB:10", "--rps-limit=400", "--duration=15s",
		"--get-distrib=60", "--stat-distrib=25", "--put-distrib=15", "--delete-distrib=0")
	again := profile("again", "mixed", "--like="+filepath.Join(folder, "first.json"), "--scale=2")
	near(t, "the rate", again.PerS(), 2*first.PerS(), 0.3) // a machine that stalls at the end leaves some unsent
	mix := map[workload.Op]workload.Operation{}
	for _, op := range again.Operations {
		mix[op.Op] = op
	}
	for _, op := range first.Operations {
		got := mix[op.Op]
		// Four standard errors of the difference of two shares.
		limit := 4 * math.Sqrt(op.Share*(1-op.Share)*(1/float64(first.Requests)+1/float64(again.Requests)))
		if math.Abs(got.Share-op.Share) > limit {
			t.Errorf("%s has the share %.3f, want %.3f within %.3f", op.Op, got.Share, op.Share, limit)
		}
		// The Kolmogorov-Smirnov test at 0.1 %.
		if d, n, m := distance(op.Sizes, got.Sizes), float64(op.Sizes.Requests()), float64(got.Sizes.Requests()); n > 0 && d > 1.95*math.Sqrt((n+m)/(n*m)) {
			t.Errorf("the sizes of %s differ by %.3f", op.Op, d)
		}
	}
	a, b := first.Popularity, again.Popularity
	if a == nil || b == nil || a.Exponent == nil || b.Exponent == nil {
		t.Fatalf("popularity %+v and %+v", a, b)
	}
	if limit := max(0.05, a.ExponentError+b.ExponentError); math.Abs(*a.Exponent-*b.Exponent) > limit {
		t.Errorf("the exponent is %.3f, want %.3f within %.3f", *b.Exponent, *a.Exponent, limit)
	}
}

// distance is the largest difference of two distributions.
func distance(a, b workload.Sizes) (d float64) {
	share := func(s workload.Sizes, limit int64) (n float64) {
		for _, x := range s {
			if x.Max <= limit {
				n += float64(x.Requests)
			}
		}
		return n / float64(max(s.Requests(), 1))
	}
	for _, x := range append(slices.Clone(a), b...) {
		d = max(d, math.Abs(share(a, x.Max)-share(b, x.Max)))
	}
	return d
}

// Flags that contradict a profile are refused, and files that are none.
func TestLikeRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "p.json")
	check.OK(t, os.WriteFile(file, []byte("{}"), 0o600))
	for want, args := range map[string][]string{
		"--like and --pick": {"--like=" + file, "--pick=zipf:1"}, "--like and --rps-limit": {"--like=" + file, "--rps-limit=5"},
		"not a profile": {"--like=" + file}, "no such file": {"--like=" + file + "x"}, "--scale needs --like": {"--scale=2"},
	} {
		if o := warp(append([]string{"mixed", "--host=embedded"}, args...)...).want(t, 2); !strings.Contains(o.err, want) {
			t.Errorf("%v: %s does not say %q", args, o.err, want)
		}
	}
}
