package child

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/process"
	"warp/cli/session"
)

// A Pool is a process that keeps objects for several runs. It removes them when it is released, and when this process ends,
// however it ends.
type Pool struct {
	ID string // which runs need to find the objects

	name    string
	release *os.File // its standard input
	said    *process.Tail
	ended   chan struct{}
	err     error // set when it has ended
}

// HoldPool starts the process, and waits until it has uploaded the objects. c has the flag that makes it keep them. It returns nil
// if the store does not list the objects, as null stores do not: then no other process can find them.
func HoldPool(ctx context.Context, inv *command.Invocation, c Command) (*Pool, error) {
	// It outlives the runs that use it, so an interrupt ends it only while it uploads.
	held, cancel := context.WithCancel(context.WithoutCancel(ctx))
	child, said, err := c.process(held, "--json", "--quiet")
	if err != nil {
		cancel()
		return nil, err
	}
	in, release, err := os.Pipe()
	if err != nil {
		cancel()
		return nil, exit.Errorf("cannot start a run: %w", err)
	}
	out, id, err := os.Pipe()
	if err != nil {
		cancel()
		in.Close()
		release.Close()
		return nil, exit.Errorf("cannot start a run: %w", err)
	}
	child.Stdin, child.Stdout = in, id
	p := &Pool{name: c.Name, release: release, said: said, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = process.Run(child)
		cancel()
		in.Close()
		id.Close()
	}()
	defer context.AfterFunc(ctx, cancel)()
	line, err := bufio.NewReader(out).ReadString('\n')
	out.Close()
	if err == nil {
		p.ID = strings.TrimSuffix(line, "\n")
		if p.ID == session.Unlisted {
			inv.Notef("the store does not list the objects, so each run uploads its own")
			return nil, p.Release(ctx)
		}
		inv.Debugf("the objects of %s have the seed %s", c.Name, p.ID)
		return p, nil
	}
	release.Close()
	<-p.ended
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, p.failure()
}

func (p *Pool) failure() error {
	why := p.err
	if why == nil {
		why = fmt.Errorf("it ended early")
	}
	return exit.Errorf("the process that keeps the objects of %s failed: %w%s", p.name, why, p.said.Suffix())
}

// Ended reports whether the process has ended by itself, so that the objects are gone.
func (p *Pool) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Release has the process remove the objects, and waits for it, but after the end of ctx no longer than for an interrupted run.
func (p *Pool) Release(ctx context.Context) error {
	p.release.Close()
	stuck := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(stuck) }) })
	defer stop()
	select {
	case <-p.ended:
	case <-stuck:
		return exit.Errorf("the process that keeps the objects of %s does not end; the next run of warp on that bucket removes its objects", p.name)
	}
	if p.err != nil {
		return p.failure()
	}
	return nil
}
