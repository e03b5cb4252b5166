package cli

import (
	"context"

	"warp/cli/exit"
	"warp/cli/scripttable"
	"warp/cli/target"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/script"
	"warp/pkg/sink"
	"warp/pkg/store"
)

// A scriptLoad is a script in this process. It cleans up nothing: a script says itself what to delete.
type scriptLoad struct {
	s      *session
	target *target.Target
	script *bench.Script
	table  *scripttable.Table

	statements []script.Statement
	log        *oplog.File
	out        *bench.Outcome
}

func newScriptLoad(s *session, target *target.Target, statements []script.Statement, steps []bench.ScriptStep) *scriptLoad {
	table := scripttable.New(s.Invocation, statements, steps)
	return &scriptLoad{s: s, target: target, table: table, statements: statements, script: &bench.Script{
		Client: target.Client, Options: s.opts, Steps: steps, Watcher: table,
	}}
}

func (l *scriptLoad) open(ctx context.Context) error {
	stop := l.s.flags.target.NoteSilence(l.s.Console, l.target.Client)
	err := l.script.Open(ctx)
	stop()
	if err != nil {
		return l.s.flags.target.ExplainOpen(ctx, err)
	}
	l.s.Notef("%s", scriptPlan(l.s.opts.Bucket, len(l.statements)))
	return nil
}

// scriptPlan describes a script before it begins. Each statement is shown when it starts.
func scriptPlan(bucket string, statements int) string {
	order := ""
	if statements > 1 {
		order = ", one after the other"
	}
	return "bucket " + bucket + ": runs " + human.Plural(statements, "statement") + order + "; objects stay unless a DELETE removes them"
}

func (l *scriptLoad) run(ctx context.Context, sinks []recording.Sink) error {
	header := l.s.header(l.target.Client.EngineName())
	for _, statement := range l.statements {
		header.Statements = append(header.Statements, statement.Text)
	}
	var err error
	if l.log, err = oplog.Create(l.s.path, header); err != nil {
		return exit.Errorf("%w", err)
	}
	l.table.ShowSettings(&l.s.flags.target, l.target.Client)
	endProfiles := l.s.profile()
	l.out = l.script.Run(ctx, append([]recording.Sink{l.table, l.log}, sinks...)...)
	l.s.server.Save()
	endProfiles()
	if note := l.table.Skipped(); note != "" {
		l.out.Trailer.Notes = append(l.out.Trailer.Notes, note)
	}
	return nil
}

func (l *scriptLoad) endRows() error { return nil }

func (l *scriptLoad) outcome() *outcome { return &outcome{Outcome: l.out} }

// report saves the log, and shows the rest of the report.
func (l *scriptLoad) report(ctx context.Context, out *outcome) error {
	s := l.s
	err := s.commit(l.log, out)
	if out.Sent == 0 {
		s.warnOfNothing(out)
	}
	for _, note := range out.Trailer.Notes {
		s.Warnf("%s", note)
	}
	judged, verdict := l.judge(ctx)
	err = exit.Join(err, l.table.Finish(s.written, out.Trailer, judged))
	if !s.JSON {
		err = exit.Join(err, showAssertions(s.Invocation, judged))
	}
	return exit.Join(err, verdict)
}

// judge judges assertions by the log, which has the statements, and draws the page.
func (l *scriptLoad) judge(ctx context.Context) ([]results.Assertion, error) {
	if l.s.written == "" {
		return nil, nil // the script has failed
	}
	return l.s.flags.asserts.judgeLog(context.WithoutCancel(ctx), l.s.Invocation, l.s.written, "script", &l.s.flags.analysis.html)
}

func (l *scriptLoad) cleanUp(context.Context, error) (note string, err error) { return "", nil }

func (l *scriptLoad) close() { l.target.Close() }

func (l *scriptLoad) store(context.Context) (*store.Client, error) { return l.target.Client, nil }

// snapshot is empty: a script has a table of its own.
func (l *scriptLoad) snapshot() monitor.Snapshot { return monitor.Snapshot{} }

func (l *scriptLoad) mark(text string) (oplog.Mark, error) { return l.script.Mark(text) }

// finish does nothing: there is no live view of a script, whose keys could end it.
func (l *scriptLoad) finish(string) {}

func (l *scriptLoad) metrics() func() []sink.ClientCounts { return nil }

func (l *scriptLoad) setTrace(on bool) { l.script.SetTrace(on) }
