package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/console"
	"warp/cli/flagtype"
	"warp/cli/redact"
	"warp/cli/runlog"
	"warp/cli/target"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/generator"
)

// A dryRun says what a benchmark would do. Making it touches nothing: no
// store, no name service, no file but those that flags name to be read.
type dryRun struct {
	Benchmark  string            `json:"benchmark"`
	Parameters map[string]string `json:"parameters"`
	Plan       []string          `json:"plan"`

	groups []parameterGroup
}

// A parameterGroup has the parameters in the order of the help.
type parameterGroup struct {
	title  string
	values [][2]string
}

func showPlan(inv *command.Invocation, f *benchFlags, b benchmark, o bench.Options) error {
	d, err := planRun(inv, f, b, &o)
	if err != nil {
		return err
	}
	return inv.Result(func(w io.Writer) error { return d.show(w, inv.JSON) })
}

// planRun is what --dry-run shows.
func planRun(inv *command.Invocation, f *benchFlags, b benchmark, o *bench.Options) (*dryRun, error) {
	d := &dryRun{Benchmark: b.name, Parameters: map[string]string{}}
	for _, g := range inv.Command.Groups {
		d.addGroup(inv, g)
	}
	hosts, err := f.plannedHosts()
	if err != nil {
		return nil, err
	}
	d.say("requests go to %s", hosts)
	if f.fleet.clients != "" {
		d.say("the clients %s make them, each with all of these parameters", f.fleet.clients)
	}
	d.planBucket(f, o)
	d.say("%s", b.plan())
	d.say("%s", f.planEnd(b, o))
	d.planFiles(f, o)
	for i, line := range d.Plan {
		d.Plan[i] = inv.Hide.Text(line)
	}
	return d, nil
}

func (d *dryRun) say(format string, args ...any) {
	d.Plan = append(d.Plan, fmt.Sprintf(format, args...))
}

// addGroup notes the flags of a group with the values that they have.
func (d *dryRun) addGroup(inv *command.Invocation, g command.Group) {
	group := parameterGroup{title: g.Title}
	for _, f := range g.All() {
		name := f.Names()[0]
		value := command.Value(f)
		if redact.IsSecret(name) && value != "" {
			value = redact.Mark
		}
		value = inv.Hide.Text(value)
		shown := value
		if doc, ok := f.(cli.DocGenerationFlag); ok && !f.IsSet() && doc.GetDefaultText() != "" {
			value, shown = "", "("+doc.GetDefaultText()+")" // such as the 0 that means it
		}
		if shown == "" {
			shown = "(not set)"
		}
		d.Parameters[name] = value
		group.values = append(group.values, [2]string{name, shown})
	}
	d.groups = append(d.groups, group)
}

// plannedHosts are the addresses as --host says them, which nobody looks up.
func (f *benchFlags) plannedHosts() (string, error) {
	if f.target.Host == target.EmbeddedHost {
		return "a store in warp's own memory", nil
	}
	scheme := "http://"
	if f.target.TLS {
		scheme = "https://"
	}
	text := scheme + strings.Join(f.target.Hosts, ", "+scheme)
	if f.target.ResolveHost {
		text += ", at every address of these names"
	}
	return text, nil
}

// planBucket says what happens to the bucket.
func (d *dryRun) planBucket(f *benchFlags, o *bench.Options) {
	if o.ReadOnly {
		d.say("bucket %s must exist; objects that are there are used, and none is written", o.Buckets())
		if f.destroy != "" {
			d.say("OBJECTS THAT WARP DID NOT WRITE ARE DELETED (--destroy)")
		}
		return
	}
	if f.target.Host == target.EmbeddedHost {
		d.say("bucket %s is made, and gone with the store when the run has ended", o.Buckets())
	} else {
		d.say("bucket %s is made if it does not exist, and stays", o.Buckets())
	}
	if o.LockBucket != "" {
		d.say("if it exists without object lock, %s is used in its place", o.LockBucket)
	}
	if len(o.MoreBuckets) > 0 {
		d.say("all of this holds for each of these buckets, over which the workers are spread")
	}
	d.planSeed(f, o)
	if f.target.Host != target.EmbeddedHost {
		d.planRemoval(o)
	}
}

// planRemoval says what is removed, and when.
func (d *dryRun) planRemoval(o *bench.Options) {
	if o.ClearBucket {
		d.say("EVERY object in the bucket is deleted first, whoever it belongs to")
	}
	if !o.NoClear {
		d.say("what dead runs have left in it is removed")
	}
	if o.KeepData || o.NoClear {
		d.say("objects stay in the bucket when the run has ended")
	} else {
		d.say("objects are removed when the run has ended, however it ended")
	}
}

// planSeed says how objects are called.
func (d *dryRun) planSeed(f *benchFlags, o *bench.Options) {
	if f.seed == "" {
		d.say("the seed is random, such as %d", o.Seed)
	}
	prefix := o.FullPrefix()
	if o.ObjectName != "" {
		d.say("the object has the name %s", o.ObjectName)
	} else {
		d.say("objects have names such as %s", generator.NewNames(prefix, o.Seed, o.Layout).Key(0, 0))
	}
}

// summary is what a run says of itself before it begins.
func (f *benchFlags) summary(b benchmark, o *bench.Options) string {
	return fmt.Sprintf("bucket %s: %s; %s", o.Buckets(), b.plan(), f.planEnd(b, o))
}

// planEnd says how requests are sent and what ends that.
func (f *benchFlags) planEnd(b benchmark, o *bench.Options) string {
	var ends []string
	if o.MaxObjects > 0 {
		is := " are"
		if o.MaxObjects == 1 {
			is = " is"
		}
		ends = append(ends, human.Plural(o.MaxObjects, "object")+is+" written")
	}
	if o.TotalSize > 0 {
		ends = append(ends, flagtype.FormatSize(o.TotalSize)+" are written")
	}
	if f.ends.passes {
		ends = append(ends, "all passes of --epochs are made")
	}
	if b.empties {
		ends = append(ends, "none is left")
	}
	if f.autoterm.on {
		ends = append(ends, "the throughput is steady (--autoterm)")
	}
	if o.Duration > 0 {
		ends = append(ends, human.Duration(o.Duration)+" are over")
	}
	if len(ends) == 0 {
		ends = []string{"Ctrl-C"}
	}
	how := "as fast as they are answered"
	if o.Rate > 0 {
		how = fmt.Sprintf("at %g requests/s", o.Rate)
	}
	send := "workers send"
	if o.Concurrency == 1 {
		send = "worker sends"
	}
	return fmt.Sprintf("%d %s requests, %s, until %s", o.Concurrency, send, how, strings.Join(ends, " or "))
}

func (d *dryRun) planFiles(f *benchFlags, o *bench.Options) {
	switch {
	case f.stress:
		d.say("no op log is written")
	default:
		d.say("the op log is written to %s", runlog.PathOr(f.benchdata, "warp-"+f.logKind(o.Benchmark)+"-TIME-ID"+runlog.Suffix))
	}
	if f.upload.URL != "" {
		d.say("the op log is uploaded to %s", f.upload.URL)
	}
	if f.progress.output != "" {
		d.say("a line per operation is written to %s every %s", f.progress.output, human.Duration(f.progress.interval))
	}
}

// show writes the plan.
func (d *dryRun) show(w io.Writer, asJSON bool) error {
	if asJSON {
		return console.WriteJSON(w, d)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range d.groups {
		fmt.Fprintln(t, g.title)
		for _, v := range g.values {
			fmt.Fprintf(t, "  --%s\t%s\n", v[0], v[1])
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, "What would happen")
	for _, line := range d.Plan {
		fmt.Fprintln(t, "  - "+line)
	}
	fmt.Fprintln(t, "\nNothing of it was done (--dry-run).")
	return t.Flush()
}
