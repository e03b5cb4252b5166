package reports

import (
	"context"
	"errors"
	"strings"

	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/pkg/consistency"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// JudgeConsistency judges the op log of warp consistency at path.
func JudgeConsistency(path string) (c *results.Consistency, err error) {
	r, err := runlog.OpenReader(path)
	if err != nil {
		return nil, exit.Errorf("%w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Header().Checks == nil {
		return nil, exit.Errorf("%s is the log of another command; only logs of warp consistency can be judged", path).
			WithHint("warp analyze reports on any op log")
	}
	var all consistency.Collector
	err = r.Each(context.Background(), func(batch []oplog.Record) error {
		all.Add(batch)
		return nil
	})
	if err != nil {
		return nil, exit.Errorf("%w", err)
	}
	return consistency.Judge(all.Log(r.Header(), r.Trailer(), r.Marks())), nil
}

// ConsistencyVerdict returns the error that determines the exit code: that properties are violated, or undecided.
func ConsistencyVerdict(c *results.Consistency) error {
	for _, v := range []struct {
		verdict string
		code    int
	}{{results.ConsistencyViolated, exit.Assertion}, {results.ConsistencyUndecided, exit.Undecided}} {
		var names []string
		for _, p := range c.Properties {
			if p.Verdict == v.verdict {
				names = append(names, p.Property)
			}
		}
		if len(names) > 0 {
			return exit.Withf(v.code, "%s: %s", v.verdict, strings.Join(names, ", "))
		}
	}
	return nil
}
