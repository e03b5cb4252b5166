package benchmarks

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/bench/ops"
)

func mixedBenchmark() benchmark {
	pool := poolFlags{versions: 1}
	var mixed ops.Mixed
	var like likeFlags
	shares := distribution(&mixed)
	putShare := &cli.IntFlag{Name: "pctput", Validator: flagtype.Between(0, 100),
		Usage: "upload with `N` % of the requests and download with the rest, instead of the four shares"}
	return benchmark{
		name: "mixed", summary: "download, stat, upload and delete at once",
		op: &mixed, requests: []string{"GET", "STAT", "PUT", "DELETE"},
		made:     func() []string { return mixedRequests(&mixed) },
		divided:  func() []float64 { return mixedShares(&mixed) },
		about:    []string{"Uploads a pool of --objects objects, then runs all four operations on it."},
		plan:     func() string { return pool.describe() + describeMix(&mixed, "objects") + like.describe() },
		examples: []string{"warp mixed --host=embedded --obj.size=1MiB --objects=100 --duration=10s"},
		flags:    pool.flags(2500, "10MiB", shares...),
		payload:  true, writes: true, reads: true,
		rarely: append([]cli.Flag{putShare, pool.pickFlag(), pool.workingSetFlag()}, like.flags()...),
		check: func(f *Flags) (err error) {
			if err := like.apply(f, &mixed, &pool); err != nil {
				return err
			}
			requested := mixed.Requested
			if putShare.IsSet() {
				if err := onlyPuts(&mixed, putShare.Get().(int), shares); err != nil {
					return err
				}
			}
			if (putShare.IsSet() || like.file != "") && mixed.Get+mixed.Stat+mixed.Delete == 0 && !pool.chosen() {
				pool.objects = 0 // nothing is ever read
			}
			if err := mixed.Check(); err != nil {
				return exit.Usagef("%w", err)
			}
			f.cost.set(mixedWrites(&mixed))
			mixed.Pool, err = pool.pool(f)
			mixed.Requested = requested
			return err
		},
		adjust: like.adjust,
	}
}

// distribution returns the shares of the four operations.
func distribution(m *ops.Mixed) []cli.Flag {
	return []cli.Flag{
		shareFlag("get", 45, &m.Get, "downloads"),
		shareFlag("stat", 30, &m.Stat, "stats"),
		shareFlag("put", 15, &m.Put, "uploads"),
		shareFlag("delete", 10, &m.Delete, "deletions; at most the share of uploads"),
	}
}

func shareFlag(name string, value float64, p *float64, what string) cli.Flag {
	return &cli.FloatFlag{Name: name + "-distrib", Value: value, Destination: p, Validator: shareValid, Usage: "relative share of " + what}
}

// onlyPuts makes mixed one of uploads, which are that many percent of the
// requests, and of downloads.
func onlyPuts(mixed *ops.Mixed, percent int, shares []cli.Flag) error {
	for _, f := range shares {
		if f.IsSet() {
			return exit.Usagef("--pctput and --%s cannot be combined", f.Names()[0])
		}
	}
	mixed.Get, mixed.Put, mixed.Stat, mixed.Delete = float64(100-percent), float64(percent), 0, 0
	return nil
}

// A mixedPart is one of the operations of a mix.
type mixedPart struct {
	share         float64 // from 0 to 1
	request, does string
}

// mixedParts returns the operations that have a share.
func mixedParts(m *ops.Mixed) (parts []mixedPart) {
	total := m.Get + m.Stat + m.Put + m.Delete
	for _, p := range []mixedPart{{m.Get, "GET", "downloads"}, {m.Stat, "STAT", "stats"}, {m.Put, "PUT", "uploads"}, {m.Delete, "DELETE", "deletes"}} {
		if p.share > 0 {
			p.share /= total
			parts = append(parts, p)
		}
	}
	return parts
}

// mixedRequests returns the requests that have a share.
func mixedRequests(m *ops.Mixed) (names []string) {
	for _, p := range mixedParts(m) {
		names = append(names, p.request)
	}
	return names
}

// mixedShares returns the shares of these requests.
func mixedShares(m *ops.Mixed) (shares []float64) {
	for _, p := range mixedParts(m) {
		shares = append(shares, p.share)
	}
	return shares
}

// mixedWrites returns the number of objects that a request writes on average, and the payload of how many it moves.
func mixedWrites(m *ops.Mixed) (writes, moves float64) {
	total := m.Get + m.Stat + m.Put + m.Delete
	return m.Put / total, (m.Get + m.Put) / total
}

// describeMix names the operations that have a share.
func describeMix(m *ops.Mixed, things string) string {
	parts := mixedParts(m)
	if len(parts) == 1 {
		return parts[0].does + " " + things
	}
	var shares []string
	for _, p := range parts {
		shares = append(shares, fmt.Sprintf("%s (%.3g %%)", p.does, 100*p.share))
	}
	return strings.Join(shares, ", ") + " " + things
}
