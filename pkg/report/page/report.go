package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/identity"
	"warp/pkg/oplog"
	"warp/pkg/report"
	"warp/pkg/results"
)

// Report returns the page of one run.
func Report(r *results.Report, o Options) *Page {
	groups := measuredGroups(r)
	p := newPage(embedded(r), "", headingOf(r, groups), o.Location)
	p.Kicker = p.kickerOf(r, groups)
	p.verdict(r, groups)
	if c := r.Conditions; c != nil {
		p.Lead = append(p.Lead, "Conditions: "+c.Sentence+".")
	}
	if hottest := r.Hottest(); hottest != "" {
		p.Lead = append(p.Lead, human.UpperFirst(hottest)+".")
	}
	p.warn("", r.Warnings, "")
	p.scale.add(groups)
	p.assertions(r)
	p.replay(r.Replay)
	p.consistency(r.Consistency)
	p.overview(groups)
	p.marked(r, groups)
	for _, g := range groups {
		p.group(r, g, len(groups) > 1)
	}
	p.soFar("host", o.Hosts, o.Elapsed)
	p.soFar("client", o.Clients, o.Elapsed)
	p.cache(r.Cache)
	p.preparation(r, groups)
	p.reproduce(r)
	return p
}

// A group is a group of the report with its operations.
type group struct {
	*results.GroupReport
	ops   []*results.Operation
	done  []results.MarkReport
	stage string // its title; "" = it is none
}

// measuredGroups returns the groups that the page is about: all except preparation.
func measuredGroups(r *results.Report) (all []group) {
	only := r.MainGroup()
	for i := range r.Groups {
		if r.Groups[i].Kind == results.KindPreparation || only >= 0 && i != only {
			continue
		}
		if g := groupOf(r, i); len(g.ops) > 0 {
			all = append(all, g)
		}
	}
	return all
}

func groupOf(r *results.Report, index int) group {
	g := group{GroupReport: &r.Groups[index], ops: r.OperationsOf(index), done: r.Marks}
	if len(g.ops) > 0 && g.ops[0].Stage {
		g.stage = report.PartTitle(g.ops[0].Part(), r.StatementText(g.ops[0].Statement))
	}
	return g
}

// name returns the name of the group if there are several.
func (g *group) name() string {
	op := g.ops[0]
	name := strings.Join(g.Operations, ", ")
	switch {
	case g.stage != "":
		return g.stage + ", " + name
	case op.Statement > 0:
		return human.UpperFirst(op.Part().Title()) + ": " + name
	case g.Run != "":
		return name + ", run " + g.Run
	}
	return name
}

// length returns the start and the length of a group's charts.
func (g *group) length() (begin time.Time, length float64) {
	begin, length = g.WindowStart, g.WindowS
	for _, op := range g.ops {
		for i := range op.Segments {
			s := &op.Segments[i]
			if begin.IsZero() || s.Start.Before(begin) {
				begin = s.Start
			}
		}
	}
	for _, op := range g.ops {
		if n := len(op.Segments); n > 0 {
			s := &op.Segments[n-1]
			length = max(length, s.Start.Sub(begin).Seconds()+s.DurationS)
		}
	}
	return begin, length
}

// hasBytes reports whether any operation moves payload.
func (g *group) hasBytes() bool { return slices.ContainsFunc(g.ops, (*results.Operation).HasBytes) }

// hosts returns the names of all hosts of a group.
func (g *group) hosts() (names []string) {
	for _, op := range g.ops {
		for i := range op.Hosts {
			if name := op.Hosts[i].Name; name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, natural)
	return names
}

// natural orders host2 before host10.
func natural(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// against says which store was used.
func (g *group) against() string {
	switch hosts := g.hosts(); len(hosts) {
	case 0:
		return ""
	case 1:
		return human.Host(hosts[0])
	case 2:
		return human.Host(hosts[0]) + " and " + human.Host(hosts[1])
	default:
		return fmt.Sprintf("%d hosts", len(hosts))
	}
}

func benchmarkName(r *results.Report, groups []group) string {
	switch {
	case len(groups) == 1 && len(groups[0].ops) == 1:
		return groups[0].ops[0].Op
	case r.Benchmark != "":
		return human.UpperFirst(r.Benchmark)
	}
	return "Mixed"
}

func headingOf(r *results.Report, groups []group) string {
	if len(groups) == 0 {
		return "Nothing was measured"
	}
	g := &groups[0]
	heading := benchmarkName(r, groups)
	if size := report.SizeOf(g.ops); size != "" && len(groups) == 1 {
		heading += ", " + size
	}
	if where := g.against(); where != "" {
		heading += ", " + where
	}
	return heading
}

func (p *Page) kickerOf(r *results.Report, groups []group) string {
	parts := []string{"warp benchmark"}
	if r.Warp != "" {
		parts[0] = "warp " + r.Warp
	}
	if len(groups) > 0 {
		if begin, _ := groups[0].length(); !begin.IsZero() {
			parts = append(parts, begin.In(p.loc).Format("2006-01-02 15:04:05 MST"))
		}
	}
	if len(r.Runs) == 1 {
		parts = append(parts, "run "+r.Runs[0])
	}
	return strings.Join(parts, " · ")
}

// overview returns the table of all operations.
func (p *Page) overview(groups []group) {
	s := section{ID: "operations", Title: "Figures"}
	for i := range groups {
		g := &groups[i]
		figures, more := p.operations(g)
		b := block{Table: figures}
		if len(groups) > 1 {
			b.Title = g.name()
			b.Table.Caption = g.name() + ": operations"
		}
		s.Blocks = append(s.Blocks, b)
		s.table(more)
	}
	p.section(s)
}

// group adds the sections about one group.
func (p *Page) group(r *results.Report, g group, several bool) {
	before := len(p.Sections)
	p.throughput(&g)
	p.latency(&g)
	p.errors(&g)
	p.clientShare(&g)
	p.distribution(&g)
	p.byHost(&g)
	p.byClient(&g)
	p.bySize(&g)
	for _, s := range report.Sections(r, g.ops[0].Group, p.loc) {
		p.tables(s.ID, s.Title, &s.Table)
	}
	p.outside(&g)
	if !several {
		return
	}
	for i := before; i < len(p.Sections); i++ {
		s := &p.Sections[i]
		s.ID += fmt.Sprintf("-%d", len(p.Sections))
		s.Title = g.name() + ": " + human.LowerFirst(s.Title)
	}
}

// preparation shows the preparation, which is not measured.
func (p *Page) preparation(r *results.Report, groups []group) {
	s := section{ID: "preparation", Title: "Preparation", Lead: []string{"The figures above do not include it."}}
	for i := range r.Groups {
		g := groupOf(r, i)
		if len(g.ops) == 0 || slices.ContainsFunc(groups, func(m group) bool { return m.GroupReport == g.GroupReport }) {
			continue
		}
		figures, more := p.operations(&g)
		figures.Caption = "Operations of the preparation"
		s.table(figures)
		s.table(more)
	}
	if len(s.Blocks) > 0 {
		p.section(s)
	}
}

// assertions lists the assertions and their results.
func (p *Page) assertions(r *results.Report) {
	t := &report.Table{Caption: "Assertions", Head: []string{"assertion", "result", ""}, Text: true}
	for i := range r.Assertions {
		a := &r.Assertions[i]
		t.Rows = append(t.Rows, []string{a.Assertion, a.Result, a.Sentence})
	}
	p.tables("assertions", "Assertions", t)
}

// reproduce shows the command and its parameters.
func (p *Page) reproduce(r *results.Report) {
	s := section{ID: "command", Title: "Command and parameters"}
	if r.Command != "" {
		s.Lead = []string{"The command that made this run. Secrets are not in it."}
		command := human.Visible(r.Command)
		if r.Seed != 0 && !strings.Contains(command, "--seed") {
			command += fmt.Sprintf(" --seed=%d", r.Seed)
		}
		s.Blocks = append(s.Blocks, block{Code: command})
	}
	for i, text := range r.Statements {
		part := oplog.Statement{Number: uint16(i + 1), Stage: r.Staged()}
		s.Blocks = append(s.Blocks, block{Title: human.UpperFirst(part.Title()), Code: human.Visible(text)})
	}
	if w := r.Identity(); w.ID != "" {
		s.Blocks = append(s.Blocks, block{Title: "Workload " + w.ID, Table: workloadTable(w)})
	} else if r.Benchmark != "" {
		s.Lead = append(s.Lead, "The workload has no identity: "+w.Unknown+".")
	}
	t := &report.Table{Caption: "Parameters", Head: []string{"parameter", "value"}, Text: true, Closed: true}
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		t.Rows = append(t.Rows, []string{name, r.Parameters[name]})
	}
	if r.Engine != "" {
		t.Rows = append(t.Rows, []string{"(engine)", r.Engine})
	}
	s.table(t)
	p.section(s)
}

// workloadTable lists the settings that define the load.
func workloadTable(w oplog.Workload) *report.Table {
	t := &report.Table{Caption: "Settings that define the workload", Head: []string{"setting", "value"}, Text: true}
	for _, name := range slices.Sorted(maps.Keys(w.Settings)) {
		t.Rows = append(t.Rows, []string{name, identity.Show(name, w.Settings[name])})
	}
	return t
}

// cache says what a cache could have served.
func (p *Page) cache(c *results.Cache) {
	if c != nil {
		p.section(section{ID: "cache", Title: "Cache", Lead: []string{human.UpperFirst(c.Sentence()) + "."}})
	}
}
