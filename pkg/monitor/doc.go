// Package monitor has the figures of a run while it lasts: [Live] counts requests as they end and
// can be sent to other machines, and [Steadiness] detects when the throughput no longer changes.
package monitor
