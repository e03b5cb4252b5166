package plan

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/flagtype"
	"warp/cli/target"
	"warp/cli/terminal/redact"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/oplog"
)

// A DryRun describes what a benchmark would do. It needs no store, no name
// service, and no file except those that flags name for reading.
type DryRun struct {
	Benchmark  string            `json:"benchmark"`
	Parameters map[string]string `json:"parameters"`
	Plan       []string          `json:"plan"`
	Workload   *oplog.Workload   `json:"workload,omitempty"` // that the run would have
	Cost       *Cost             `json:"cost,omitempty"`     // nil if it is not known, or there is none

	groups []parameterGroup
}

// A parameterGroup has the parameters in the order of the help.
type parameterGroup struct {
	title    string
	values   []parameter
	defaults int // of them nobody set
}

// A parameter is a flag with its value.
type parameter struct {
	name, value string
	set         bool // by a flag, a variable or a file
}

// Flag asks for the plan only.
func Flag(asked *flagtype.Asked) cli.Flag {
	return &flagtype.Question{Name: "dry-run", Destination: asked, Usage: "show the plan without sending a request or writing a file; with =all every parameter, too"}
}

// New returns a dry run with the parameters of the command and an empty plan.
func New(inv *command.Invocation, benchmark string) *DryRun {
	d := &DryRun{Benchmark: benchmark, Parameters: map[string]string{}}
	for _, g := range inv.Command.Groups {
		d.addGroup(inv, g)
	}
	return d
}

// Say adds a line to the plan.
func (d *DryRun) Say(format string, args ...any) {
	d.Plan = append(d.Plan, fmt.Sprintf(format, args...))
}

// Identity adds the identity of the workload.
func (d *DryRun) Identity(w oplog.Workload) {
	d.Workload = &w
	if w.ID == "" {
		d.Say("the workload has no identity: %s", w.Unknown)
		return
	}
	d.Say("the workload has the identity %s", w.ID)
}

// addGroup adds the flags of a group with their values.
func (d *DryRun) addGroup(inv *command.Invocation, g command.Group) {
	group := parameterGroup{title: g.Title}
	for _, f := range g.All() {
		name := f.Names()[0]
		value := inv.Shown(f)
		shown := value
		if list, ok := f.Get().([]string); ok && !redact.IsSecret(name) { // whose values may contain commas
			shown = inv.Hide.Text(strings.Join(list, ", "))
		}
		if doc, ok := f.(cli.DocGenerationFlag); ok && !f.IsSet() && doc.GetDefaultText() != "" {
			value, shown = "", "("+doc.GetDefaultText()+")" // such as the 0 that means it
		}
		if shown == "" {
			shown = "(not set)"
		}
		d.Parameters[name] = value
		if name == "dry-run" {
			continue
		}
		group.values = append(group.values, parameter{name, shown, f.IsSet()})
		if !f.IsSet() {
			group.defaults++
		}
	}
	d.groups = append(d.groups, group)
}

// Bucket adds what happens to the bucket. foreign says that objects of others are deleted.
func (d *DryRun) Bucket(t *target.Flags, o *bench.Options, foreign, randomSeed bool) {
	if o.ReadOnly {
		d.Say("bucket %s must exist; objects that are there are used, and none is written", o.Buckets())
		if foreign {
			d.Say("OBJECTS THAT WARP DID NOT WRITE ARE DELETED (--destroy)")
		}
		return
	}
	if t.Host == target.EmbeddedHost {
		d.Say("bucket %s is made, and is gone with the store when the run has ended", o.Buckets())
	} else {
		d.Say("bucket %s is made if it does not exist, and stays", o.Buckets())
	}
	if o.LockBucket != "" {
		d.Say("if it exists without object lock, %s is used in its place", o.LockBucket)
	}
	if len(o.MoreBuckets) > 0 {
		d.Say("all of this applies to each of these buckets, among which the workers are divided")
	}
	d.planSeed(o, randomSeed)
	if t.Host != target.EmbeddedHost {
		d.planRemoval(o)
	}
}

// planRemoval adds what is removed, and when.
func (d *DryRun) planRemoval(o *bench.Options) {
	if o.ClearBucket {
		d.Say("EVERY object in the bucket is deleted first, including other people's")
	}
	if !o.NoClear {
		d.Say("objects that dead runs left in it are removed")
	}
	if o.KeepData || o.NoClear {
		d.Say("objects stay in the bucket when the run has ended")
	} else {
		d.Say("objects are removed when the run has ended, however it ended")
	}
}

// planSeed adds the names of objects.
func (d *DryRun) planSeed(o *bench.Options, random bool) {
	if random {
		d.Say("the seed is random, such as %d", o.Seed)
	}
	prefix := o.FullPrefix()
	if o.ObjectName != "" {
		d.Say("the object has the name %s", o.ObjectName)
	} else {
		d.Say("objects have names such as %s", generator.NewNames(prefix, o.Seed, o.Layout).Key(0, 0))
	}
}

// Hosts returns the addresses as --host has them, without looking them up.
func Hosts(t *target.Flags) string {
	if t.Host == target.EmbeddedHost {
		return "a store in warp's own memory"
	}
	scheme := "http://"
	if t.TLS {
		scheme = "https://"
	}
	text := scheme + strings.Join(t.Hosts, ", "+scheme)
	if t.ResolveHost {
		text += ", at every address of these names"
	}
	return text
}

// Requests describes how requests are sent and what ends that. others are ends that are not among the options.
func Requests(o *bench.Options, others []string) string {
	var ends []string
	if o.MaxObjects > 0 {
		is := " are"
		if o.MaxObjects == 1 {
			is = " is"
		}
		ends = append(ends, human.Plural(o.MaxObjects, "object")+is+" written")
	}
	if o.TotalSize > 0 {
		ends = append(ends, generator.FormatSize(o.TotalSize)+" are written")
	}
	ends = append(ends, others...)
	if o.Duration > 0 {
		ends = append(ends, human.Duration(o.Duration)+" are over")
	}
	if len(ends) == 0 {
		ends = []string{"Ctrl-C"}
	}
	how := "as fast as they are answered"
	switch {
	case len(o.Rates) > 0:
		how = "as often as the profile says"
	case o.Times != nil:
		how = "when they are due"
	case o.OpenLoop():
		how = fmt.Sprintf("at %s requests/s", rates(o))
		if o.Poisson {
			how += " with Poisson arrivals"
		}
	}
	send := "workers send"
	if o.Concurrency == 1 {
		send = "worker sends"
	}
	return fmt.Sprintf("%d %s requests, %s, until %s", o.Concurrency, send, how, strings.Join(ends, " or "))
}

// Show shows the dry run, without secrets, and the defaults if they are asked for.
func (d *DryRun) Show(inv *command.Invocation, asked flagtype.Asked) error {
	for i, line := range d.Plan {
		d.Plan[i] = inv.Hide.Text(line)
	}
	return inv.Document(d, func(w io.Writer) error { return d.write(w, asked == flagtype.AskedAll, inv.OutWidth()) })
}

// write writes the plan: what was set first, then what would happen, and then the defaults.
// Sentences are broken at blanks into lines of width columns; 0 is any width.
func (d *DryRun) write(w io.Writer, defaults bool, width int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	number := d.list(t, "Set", true)
	fmt.Fprintln(t, "What would happen")
	for _, line := range d.Plan {
		fmt.Fprintln(t, fold("  - ", line, width))
	}
	fmt.Fprintln(t)
	if defaults {
		d.list(t, "", false)
	} else {
		fmt.Fprintln(t, fold("", human.Count(number, "more parameter has its default", "more parameters have their defaults")+", shown by --dry-run=all.", width))
	}
	fmt.Fprintln(t, "Nothing was done (--dry-run).")
	return t.Flush()
}

// fold appends a sentence to head, in lines of width columns that begin at the same column; 0 is any width.
func fold(head, sentence string, width int) string {
	if width <= 0 {
		return head + sentence
	}
	column := utf8.RuneCountInString(head)
	return head + human.Wrap(sentence, column, width, strings.Repeat(" ", min(column, width/2)))
}

// list writes the parameters that were set, or those that were not, and returns the number of the others. Without a title
// each group has its own.
func (d *DryRun) list(w io.Writer, title string, set bool) (others int) {
	if title != "" {
		fmt.Fprintln(w, title)
	}
	for _, g := range d.groups {
		if title == "" && g.defaults > 0 {
			fmt.Fprintln(w, g.title+", not set")
		}
		for _, v := range g.values {
			if v.set != set {
				others++
				continue
			}
			fmt.Fprintf(w, "  --%s\t%s\n", v.name, v.value)
		}
		if title == "" && g.defaults > 0 {
			fmt.Fprintln(w)
		}
	}
	if title != "" {
		fmt.Fprintln(w)
	}
	return others
}
