package benchmarks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/bench/pacing"
	"warp/pkg/generator"
	"warp/pkg/workload"
)

// likeFlags make warp mixed reproduce the load of a profile.
type likeFlags struct {
	file   string
	scale  float64
	scaled *cli.FloatFlag

	digest  string // of the profile
	rates   []pacing.Stage
	poisson bool
	left    []string // operations that are not made
}

func (l *likeFlags) flags() []cli.Flag {
	l.scaled = &cli.FloatFlag{Name: "scale", Value: 1, Destination: &l.scale, Validator: flagtype.Between(0.001, 1000), Usage: "with --like: send `N` times as many requests per second"}
	return []cli.Flag{
		&cli.StringFlag{Name: "like", Destination: &l.file, TakesFile: true,
			Usage: "take mix, sizes, popularity, ranges and arrivals from the profile `FILE` of warp workload"},
		l.scaled,
	}
}

// apply sets the mix, the objects and the arrivals of the profile. Flags that set these, too, are refused.
func (l *likeFlags) apply(f *Flags, mixed *ops.Mixed, pool *poolFlags) error {
	if l.file == "" {
		if l.scaled.IsSet() {
			return exit.Usagef("--scale needs --like=PROFILE")
		}
		return nil
	}
	for _, name := range []string{"obj.size", "obj.randsize", "min-size", "max-size", "get-distrib", "stat-distrib", "put-distrib", "delete-distrib", "pctput", "pick",
		"rps-limit", "arrival", "stages", "duration", "warmup", "forever", "autoterm", "max-objects", "total-size", "working-set"} {
		if f.Target.Given(name) {
			return exit.Usagef("--like and --%s cannot be combined: the profile sets the load", name)
		}
	}
	p, err := l.read()
	if err != nil {
		return err
	}
	if err := l.mix(p, mixed); err != nil {
		return err
	}
	l.objects(p, mixed, pool)
	l.arrivals(p)
	if len(l.rates) == 0 {
		return exit.Usagef("--like: %s has no arrivals", l.file)
	}
	f.like = true
	f.Ends.Duration = pacing.StagesLength(l.rates)
	return nil
}

func (l *likeFlags) read() (*workload.Profile, error) {
	file, err := os.Open(l.file)
	if err != nil {
		return nil, exit.Usagef("--like: %s: %w", l.file, files.Reason(err))
	}
	defer file.Close()
	p, err := workload.Read(file)
	if err != nil {
		return nil, exit.Usagef("--like: %s: %w", l.file, err)
	}
	var text strings.Builder
	if err := p.Write(&text); err != nil {
		return nil, exit.Errorf("--like: %w", err)
	}
	sum := sha256.Sum256([]byte(text.String()))
	l.digest = hex.EncodeToString(sum[:8])
	return p, nil
}

// mix sets the shares of the operations.
func (l *likeFlags) mix(p *workload.Profile, m *ops.Mixed) error {
	m.Get, m.Stat, m.Put, m.Delete = 0, 0, 0, 0
	l.left = nil
	share := map[workload.Op]*float64{workload.Get: &m.Get, workload.Stat: &m.Stat, workload.Put: &m.Put, workload.Delete: &m.Delete}
	for _, op := range p.Operations {
		if s := share[op.Op]; s != nil {
			*s = float64(op.Requests)
		} else if op.Requests > 0 {
			l.left = append(l.left, string(op.Op))
		}
	}
	switch {
	case m.Get+m.Stat+m.Put+m.Delete == 0:
		return exit.Usagef("--like: %s has no downloads, stats, uploads or deletions, only %s", l.file, strings.Join(l.left, ", "))
	case m.Delete > m.Put:
		return exit.Usagef("--like: %s has more deletions than uploads, so the objects would run out", l.file)
	}
	return nil
}

// objects sets sizes, popularity and ranges.
func (l *likeFlags) objects(p *workload.Profile, m *ops.Mixed, pool *poolFlags) {
	pool.together = true
	sizes := map[workload.Op]workload.Sizes{}
	for _, op := range p.Operations {
		sizes[op.Op] = op.Sizes
	}
	read, written := sizes[workload.Get], sizes[workload.Put]
	if len(read) == 0 && p.Ranges != nil {
		read = p.Ranges.Objects
	}
	if len(read) == 0 {
		read = written
	}
	if len(written) == 0 {
		written = read
	}
	if len(read) > 0 {
		pool.size = sizesText(written)
		m.Requested = nil
		for _, b := range read {
			m.Requested = append(m.Requested, ops.SizeShare{Size: b.Min + (b.Max-b.Min)/2, Weight: float64(b.Requests)})
		}
	}
	if pop := p.Popularity; pop != nil {
		if !pool.objectsGiven() {
			pool.objects = int(min(max(p.Alive(), 1), maxPoolObjects))
		}
		if pop.Exponent != nil {
			pool.zipf = min(max(*pop.Exponent, 0), maxZipf)
		}
	}
	m.Ranges, m.RangeSizes = 0, nil
	if r := p.Ranges; r != nil && len(r.Sizes) > 0 {
		m.Ranges = r.Share
		m.RangeSizes, _ = generator.ParseSizes(sizesText(r.Sizes), false)
	}
}

// sizesText writes a histogram as the value of --obj.size.
func sizesText(sizes workload.Sizes) string {
	items := make([]string, len(sizes))
	for i, b := range sizes {
		items[i] = fmt.Sprintf("%d:%d", b.Min+(b.Max-b.Min)/2, b.Requests)
	}
	return "exact:" + strings.Join(items, ",")
}

// arrivals sets the rate of each interval of the profile.
func (l *likeFlags) arrivals(p *workload.Profile) {
	interval, made := time.Duration(p.Arrivals.IntervalS*float64(time.Second)), 0.0
	for _, op := range p.Operations {
		if !slices.Contains(l.left, string(op.Op)) {
			made += float64(op.Requests)
		}
	}
	part := l.scale * made / float64(max(p.Requests, 1))
	l.rates = nil
	left := time.Duration(p.DurationS * float64(time.Second))
	for _, n := range p.Arrivals.Requests {
		length := min(interval, max(left, interval/100))
		left -= length
		length = length.Round(time.Millisecond)
		rate := part * float64(n) / length.Seconds()
		l.rates = append(l.rates, pacing.Stage{Length: length, From: rate, To: rate})
	}
	l.poisson = p.Arrivals.Gaps != workload.EvenGaps
}

// adjust sets the arrivals, unless there is no profile.
func (l *likeFlags) adjust(o *bench.Options) {
	if l.file != "" {
		o.Rates, o.Poisson, o.Like = l.rates, l.poisson, l.digest
	}
}

// describe describes the load; "" without a profile.
func (l *likeFlags) describe() string {
	if l.file == "" {
		return ""
	}
	text := fmt.Sprintf(", like %s", l.file)
	if l.scale != 1 {
		text += fmt.Sprintf(" at %g times its rate", l.scale)
	}
	if len(l.left) > 0 {
		text += fmt.Sprintf(", without its %s, which mixed does not make", human.And(l.left))
	}
	return text
}
