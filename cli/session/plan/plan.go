// Package plan describes a run: in a line before it begins,
// or in full for --dry-run.
package plan

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
	"warp/pkg/generator"
)

// Note notes what is going to happen: as a line on a terminal, otherwise as the
// given sentences. clients is the number of machines; 0 = this one.
func Note(inv *command.Invocation, t *target.Flags, o *bench.Options, sentences string, clients int) {
	width, _ := inv.Size()
	if width > 0 {
		inv.Notef("%s", columns.Line(parts(inv, t, o, clients), width-len("warp: ")))
		return
	}
	each := ""
	if clients > 0 {
		each = ", on each of " + human.Plural(clients, "client")
	}
	inv.Notef("%s%s", sentences, each)
}

// parts returns the parts of the line, the operation first.
func parts(inv *command.Invocation, t *target.Flags, o *bench.Options, clients int) []columns.Part {
	on := ""
	if clients > 0 {
		on = human.Plural(clients, "client") + ", each"
	}
	pace := ""
	switch {
	case len(o.Rates) > 0:
		pace = "like a profile"
	case o.Replay != nil:
		pace = fmt.Sprintf("speed %g", o.Replay.Speed)
	case o.OpenLoop():
		pace = rates(o) + " requests/s"
	}
	hosts := human.Plural(len(t.Hosts), "host")
	switch {
	case t.Host == target.EmbeddedHost:
		hosts = target.EmbeddedHost
	case len(t.Hosts) == 1:
		hosts = t.Hosts[0]
	}
	return []columns.Part{{Text: strings.ToUpper(o.Benchmark)}, {Text: on, Drop: 1}, {Text: hosts, Drop: 3}, {Text: "bucket " + o.Buckets(), Drop: 4},
		{Text: objects(inv, o), Drop: 2}, {Text: human.Plural(o.Concurrency, "worker"), Drop: 1}, {Text: pace, Drop: 1}, {Text: end(inv, o)}}
}

// end returns what ends the run.
func end(inv *command.Invocation, o *bench.Options) string {
	passes := 0
	if f := command.FindFlag(inv.Command.Flags(), "epochs"); f != nil {
		passes, _ = f.Get().(int)
	}
	switch {
	case o.Duration > 0:
		return human.Duration(o.Duration)
	case o.Replay != nil:
		return "until the end of the log"
	case o.MaxObjects > 0:
		return "until " + human.Plural(o.MaxObjects, "object")
	case o.TotalSize > 0:
		return "until " + generator.FormatSize(o.TotalSize)
	case passes > 0:
		return human.Count(passes, "pass", "passes")
	}
	return "until Ctrl-C"
}

// rates returns the rate of an open loop, or the lowest and the highest one of its stages.
func rates(o *bench.Options) string {
	if len(o.Stages) == 0 {
		return fmt.Sprintf("%g", o.Rate)
	}
	low, high := o.Stages[0].From, o.Stages[0].From
	for _, s := range o.Stages {
		low, high = min(low, s.From, s.To), max(high, s.From, s.To)
	}
	return fmt.Sprintf("%g to %g", low, high)
}

// objects returns the number of objects and their size, as the flags have them.
func objects(inv *command.Invocation, o *bench.Options) string {
	value := func(names ...string) string {
		for _, name := range names {
			if f := command.FindFlag(inv.Command.Flags(), name); f != nil {
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
