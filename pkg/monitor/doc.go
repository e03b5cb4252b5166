// Package monitor has the figures of a run while it lasts: [Live] counts requests
// as they end, travels between machines, and [Steadiness] finds out when the
// throughput no longer changes.
package monitor
