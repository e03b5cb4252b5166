package results

import (
	"warp/pkg/identity"
	"warp/pkg/oplog"
)

// Identity returns the workload of the run. Saved reports of older versions do not name it; then it follows from their
// parameters. Foreign results have none.
func (r *Report) Identity() oplog.Workload {
	switch {
	case r.Workload != nil:
		return *r.Workload
	case len(r.Runs) > 1:
		return identity.SeveralRuns()
	}
	clients := 0
	for i := range r.Groups {
		clients = max(clients, r.Groups[i].Clients)
	}
	return identity.Of(&oplog.Header{Benchmark: r.Benchmark, Parameters: r.Parameters, Statements: r.Statements}, clients)
}
