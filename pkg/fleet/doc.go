// Package fleet makes many machines one client of a store. A [Fleet] is the
// coordinator; on each machine, an agent (package agent) runs its share.
//
// # A run from hello to report
//
// The coordinator calls the steps of [Fleet] one after the other. Each waits
// until every client has reached a [protocol.Phase]:
//
//	Fleet.Connect   connects to all agents, compares their clocks       Attached
//	Fleet.Prepare   sends each its job: open the bucket, write objects  Opened, Prepared
//	Fleet.Measure   sends one start time to all, waits for the end      Measured
//	Fleet.Finish    fetches the logs of all clients                     Stored
//	Fleet.Merge     makes one log of all
//	Fleet.Report    makes one report of all, without logs
//	Fleet.Clean     makes all remove what they wrote, and releases them Cleaned, Released
//
// Each client is a link here (link.go) and a job at its agent (agent/job.go).
// Both outlive connections: the coordinator sends the [protocol.DesiredState] of
// a client, the client its [protocol.Status], always all of it, so a connection
// may break at any time and be replaced. An agent that does not hear from its
// coordinator ends the run and cleans up by itself; a coordinator continues
// without a client that it does not hear from (contact.go).
//
// Below this package: protocol holds the messages, transport the connections and
// the proof of the token, logcopy copies the clients' logs while they grow, and
// clock measures the difference of two clocks.
package fleet
