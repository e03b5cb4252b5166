package sweeper

import (
	"slices"

	"warp/cli/command"
	"warp/cli/session/plan"
)

// Plans makes the plans of the missing runs, and returns the first one; nil if none is missing. of returns the plan of
// the run with a command line.
func (s *Sweep) Plans(of func(args []string) (*plan.DryRun, error)) (first *plan.DryRun, err error) {
	planned := map[*point]bool{}
	for _, r := range s.folder.Missing() {
		p := s.at[r]
		if planned[p] {
			continue
		}
		d, err := of(p.args)
		if err != nil {
			return nil, err
		}
		planned[p], p.cost = true, d.Cost
		if first == nil {
			first = d
		}
	}
	return first, nil
}

// Cost returns what the missing runs send together at most, after Plans; nil if that is not known. Objects that several
// runs share are uploaded and removed once.
func (s *Sweep) Cost() *plan.Cost {
	sum := &plan.Cost{}
	uploaded := map[string]bool{}
	missing := s.folder.Missing()
	for i, r := range missing {
		p := s.at[r]
		if p.cost == nil {
			return nil
		}
		c := *p.cost
		switch {
		case uploaded[p.pool]:
			c.Uploads, c.UploadBytes, c.MaxUpload, c.Listings = 0, 0, 0, 0
		case s.shares(p, missing[i:]):
			uploaded[p.pool] = true
		}
		sum.Add(&c)
	}
	return sum
}

// Fleet reports whether clients of a fleet make runs.
func (s *Sweep) Fleet() bool {
	return slices.ContainsFunc(s.points, func(p point) bool { return command.Value(p.line.Command.Lookup("warp-client")) != "" })
}
