package cli

import (
	"fmt"
	"strconv"
	"strings"

	"warp/cli/command"
	"warp/cli/flagtype"
	"warp/cli/target"
	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/bench"
)

// notePlan says what is going to happen: as a line where there is a terminal,
// else as sentences.
func (s *session) notePlan(clients int) {
	width, _ := s.Size()
	if width > 0 {
		s.Notef("%s", columns.Line(s.planParts(clients), width-len("warp: ")))
		return
	}
	each := ""
	if clients > 0 {
		each = ", on each of " + human.Plural(clients, "client")
	}
	s.Notef("%s%s", s.flags.plan, each)
}

// planParts are what a run is going to do where, the operation first.
func (s *session) planParts(clients int) []columns.Part {
	o, on := &s.opts, ""
	if clients > 0 {
		on = human.Plural(clients, "client") + ", each"
	}
	end := "until Ctrl-C"
	if o.Duration > 0 {
		end = human.Duration(o.Duration)
	}
	pace := ""
	if o.Rate > 0 {
		pace = fmt.Sprintf("%g requests/s", o.Rate)
	}
	hosts := human.Plural(len(s.flags.target.Hosts), "host")
	switch {
	case s.flags.target.Host == target.EmbeddedHost:
		hosts = target.EmbeddedHost
	case len(s.flags.target.Hosts) == 1:
		hosts = s.flags.target.Hosts[0]
	}
	return []columns.Part{{Text: strings.ToUpper(o.Benchmark)}, {Text: on, Drop: 1}, {Text: hosts, Drop: 3}, {Text: "bucket " + o.Buckets(), Drop: 4},
		{Text: s.plannedObjects(o), Drop: 2}, {Text: human.Plural(o.Concurrency, "worker"), Drop: 1}, {Text: pace, Drop: 1}, {Text: end}}
}

// plannedObjects is the number of objects and their size as flags say them.
func (s *session) plannedObjects(o *bench.Options) string {
	value := func(names ...string) string {
		for _, name := range names {
			if f := command.FindFlag(s.Command.Flags(), name); f != nil {
				return command.Value(f)
			}
		}
		return ""
	}
	size := value("obj.size", "part.size")
	if o.ReadOnly || value("list-existing") == "true" {
		return "objects that exist"
	}
	n, err := strconv.ParseInt(value("objects", "files", "parts"), 10, 64)
	if err != nil {
		if size == "" {
			return ""
		}
		return "objects of " + size
	}
	bytes, err := flagtype.ParseSize(size)
	if err != nil {
		return fmt.Sprintf("%s × %s", human.Grouped(n), size)
	}
	return fmt.Sprintf("%s × %s = %s", human.Grouped(n), human.Bytes(float64(bytes)), human.Bytes(float64(n)*float64(bytes)))
}
