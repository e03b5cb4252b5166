// Package protocol holds the messages between a coordinator and its clients. A
// run goes through a [Phase] after the other: the coordinator sends the
// [DesiredState] of a client, the client its [Status], and always all of it, so
// that nothing is lost when a connection breaks.
package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"warp/pkg/fleet/transport"
)

// Version is the version of the protocol. Increase it whenever a message or its
// meaning changes.
const Version = 8

// DefaultPort is the port of clients.
const DefaultPort = "7761"

// The kinds of messages. The format is JSON, unless brackets name another one.
const (
	KindAttach   transport.Kind = iota + 1 // to the agent: purpose of the connection
	KindAttached                           // its answer
	KindJob                                // to the agent: its share of the run
	KindDesired                            // to the agent: how far to go
	KindStatus                             // how far it has come
	KindPing                               // to the agent [Ping]
	KindPong                               // its answer [Pong]
	KindLive                               // figures of the last second [8 bytes of time, monitor.Live]
	KindPull                               // to the agent: send the log from here on
	KindChunk                              // a part of the log [logcopy.Chunk]
	KindAck                                // to the agent: received so far [8 bytes]
	KindForget                             // to the agent: the kept log has arrived
	KindMetrics                            // metrics so far [sink.Counts]
	KindSummary                            // summary of the finished run [aggregate.Summary]
	KindSoFar                              // interim summary [aggregate.Summary]
)

// A Purpose is the purpose of a connection.
type Purpose string

// The purposes of a connection.
const (
	ForRun     Purpose = "run"     // a new run
	ForResume  Purpose = "resume"  // resume the run after a broken connection
	ForCollect Purpose = "collect" // fetch the log of a run whose coordinator is gone
)

// An AttachRequest states the purpose of the connection. Key is a secret of the
// run: only the coordinator that began it can resume it. Client is the share of
// the run.
type AttachRequest struct {
	Purpose Purpose `json:"purpose"`
	Run     string  `json:"run"`
	Client  string  `json:"client,omitempty"`
	Key     string  `json:"key"`
}

// An AttachReply is the response. Refused is empty if the coordinator may
// continue.
type AttachReply struct {
	Refused string  `json:"refused,omitempty"`
	Wait    bool    `json:"wait,omitempty"`    // the agent will be free soon
	Unknown bool    `json:"unknown,omitempty"` // the run is not known here, and will never be
	Host    string  `json:"host"`              // host name of the machine
	HasJob  bool    `json:"has_job"`
	Status  Status  `json:"status"`
	Kept    []Saved `json:"kept,omitempty"` // logs that no coordinator has fetched
}

// A Saved is a log kept by an agent.
type Saved struct {
	Run       string `json:"run"`
	Client    string `json:"client"`
	Benchmark string `json:"benchmark"`
	Bytes     int64  `json:"bytes"`
	SHA256    []byte `json:"sha256"`
}

// Pull requests the log from an offset on, optionally of a kept run.
type Pull struct {
	Offset int64  `json:"offset"`
	Run    string `json:"run,omitempty"`
}

// Decode reads JSON strictly: an unknown field is an error, because ignoring it
// could change the benchmark.
func Decode(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("a message cannot be read: %w", err)
	}
	if d.More() {
		return errors.New("a message cannot be read: something follows it")
	}
	return nil
}
