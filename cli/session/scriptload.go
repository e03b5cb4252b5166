package session

import (
	"context"

	"warp/cli/exit"
	"warp/cli/reports"
	"warp/cli/session/scripttable"
	"warp/cli/target"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/script"
	"warp/pkg/store"
)

// A Script is a script in this process. It cleans up nothing: a script says itself what to delete.
type Script struct {
	s      *Session
	target *target.Target
	script *bench.Script
	table  *scripttable.Table

	statements []script.Statement
	log        *oplog.File
	out        *bench.Outcome
}

func NewScript(s *Session, target *target.Target, statements []script.Statement, steps []bench.ScriptStep) *Script {
	table := scripttable.New(s.Invocation, statements, steps)
	return &Script{s: s, target: target, table: table, statements: statements, script: &bench.Script{
		Client: target.Client, Options: s.Options, Steps: steps, Watcher: table,
	}}
}

func (l *Script) Open(ctx context.Context) error {
	if err := l.s.openStore(ctx, l.target.Client, l.script.Open); err != nil {
		return err
	}
	l.s.Notef("%s", scriptPlan(l.s.Options.Bucket, len(l.statements)))
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

func (l *Script) Run(ctx context.Context, sinks []recording.Sink) error {
	header := l.s.header(l.target.Client.EngineName())
	l.s.addStatements(&header, l.statements)
	var err error
	if l.log, err = oplog.Create(l.s.path, header); err != nil {
		return exit.Errorf("%w", err)
	}
	l.table.ShowSettings(&l.s.Flags.Target, l.target.Client)
	endProfiles := l.s.profile()
	l.out = l.script.Run(ctx, append([]recording.Sink{l.table, l.log}, sinks...)...)
	l.s.server.Save()
	endProfiles()
	if note := l.table.Skipped(); note != "" {
		l.out.Trailer.Notes = append(l.out.Trailer.Notes, note)
	}
	return nil
}

func (l *Script) Outcome() *Outcome { return &Outcome{Outcome: l.out} }

// Report saves the log, and shows the rest of the report.
func (l *Script) Report(ctx context.Context, out *Outcome) error {
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
		err = exit.Join(err, reports.ShowAssertions(s.Invocation, judged))
	}
	return exit.Join(err, verdict)
}

// judge judges assertions by the log, which has the statements, and draws the page.
func (l *Script) judge(ctx context.Context) ([]results.Assertion, error) {
	if l.s.written == "" {
		return nil, nil // the script has failed
	}
	return l.s.Flags.Asserts.JudgeLog(context.WithoutCancel(ctx), l.s.Invocation, l.s.written, "script", &l.s.Flags.Analysis.HTML)
}

func (l *Script) CleanUp(context.Context, error) (note string, err error) { return "", nil }

func (l *Script) Close() { l.target.Close() }

func (l *Script) Store(context.Context) (*store.Client, error) { return l.target.Client, nil }

func (l *Script) Mark(text string) (oplog.Mark, error) { return l.script.Mark(text) }

func (l *Script) SetTrace(on bool) { l.script.SetTrace(on) }
