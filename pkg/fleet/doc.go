// Package fleet makes many machines one client of a store. On each of them an
// [Agent] serves one coordinator at a time; a [Fleet] is the coordinator's side.
//
// # A run from hello to report
//
// The coordinator calls the steps of [Fleet] one after the other. Each waits
// until every client has reached a [Phase]:
//
//	Fleet.Connect   connects to all agents and compares their clocks   Attached
//	Fleet.Prepare   sends each its [Job]: open the bucket, write        Opened, Prepared
//	                objects
//	Fleet.Measure   sends one start time for all, waits for the end     Measured
//	Fleet.Finish    fetches what each has recorded                      Stored
//	Fleet.Merge     makes one log of all; without logs, Fleet.Report
//	                makes one report
//	Fleet.Clean     has all remove what they wrote, and lets them go    Cleaned, Released
//
// Each client is a link on the coordinator's side (link.go) and a job on the
// agent's side (job.go). Both outlive connections: the coordinator sends the
// desiredState of a client, the client its status, and always all of it, so
// that a connection may break anywhere and be replaced. An agent that does not
// hear from its coordinator ends the run and cleans up by itself (job.go); a
// coordinator goes on without a client that it does not hear from (link.go,
// contact.go).
//
// How the two are connected, and how each proves that it knows the token, is
// the business of the package transport.
package fleet
