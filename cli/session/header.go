package session

import (
	"strconv"
	"time"

	"warp/cli/command"
	"warp/pkg/bench"
	"warp/pkg/identity"
	"warp/pkg/oplog"
	"warp/pkg/script"
)

// header returns the header of the log.
func (s *Session) header(engine string) oplog.Header {
	h := s.Options.Header(engine, time.Now())
	h.Command, h.Parameters = s.Line, Parameters(s.Invocation)
	if _, ok := h.Parameters[tlsParameter]; !ok { // the command has another way to say it
		h.Parameters[tlsParameter] = strconv.FormatBool(s.Flags.Target.TLS)
	}
	s.identify(&h)
	return h
}

// tlsParameter is recorded of all runs, because it is part of their identity.
const tlsParameter = "tls"

// identify names the workload of all clients in the header.
func (s *Session) identify(h *oplog.Header) {
	w := identity.Of(h, s.clients)
	h.Workload = &w
}

// addStatements adds the statements of a script to its header.
func (s *Session) addStatements(h *oplog.Header, statements []script.Statement) {
	for _, statement := range statements {
		h.Statements = append(h.Statements, statement.Text)
	}
	s.identify(h)
}

// Identity returns the workload that a run would have. It resolves no names, so it does not know how many clients have the same one.
func Identity(inv *command.Invocation, f *RunFlags, o *bench.Options, statements []script.Statement) oplog.Workload {
	s := New(inv, f, *o, "")
	if f.Fleet.Clients != "" {
		if s.clients = f.Fleet.Size(); s.clients == 0 {
			return oplog.Workload{Unknown: "it depends on the number of clients, and a dry run does not resolve their names"}
		}
	}
	h := s.header("")
	if statements != nil {
		s.addStatements(&h, statements)
	}
	return *h.Workload
}
