package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/internal/columns"
	"warp/pkg/calibrate"
	"warp/pkg/s3mem"
)

// nullStoreCommand is the command by which calibrate starts warp again as its null store. It is
// in no help.
const nullStoreCommand = "null-store"

func calibrateCommand() *command.Command {
	var each time.Duration
	return &command.Command{
		Name: "calibrate", Section: command.SectionOther,
		Summary: "measure the limits of this machine",
		About: []string{
			"Runs uploads, downloads and stats against a null store in a second process on this machine. If a",
			"real store comes close to these figures, this machine is the limit, not the store.",
		},
		Groups: []command.Group{{Title: command.RunTitle, Flags: []cli.Flag{
			&flagtype.Duration{Name: "duration", Value: 1500 * time.Millisecond, Destination: &each, Validator: flagtype.Takes(100 * time.Millisecond), Usage: "measure each row for `TIME`"},
		}}},
		Run: func(ctx context.Context, inv *command.Invocation) error {
			c, err := runCalibration(ctx, inv, each)
			if err != nil {
				return err
			}
			if err := c.Save(); err != nil {
				inv.Warnf("%v", err)
			}
			return inv.Document(c, func(w io.Writer) error { return writeCalibration(w, c, inv.OutWidth()) })
		},
	}
}

// runCalibration starts warp again as the null store.
func runCalibration(ctx context.Context, inv *command.Invocation, each time.Duration) (*calibrate.Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, exit.Errorf("start the null store: %w", err)
	}
	c, err := calibrate.Run(ctx, calibrate.Options{
		Warp: inv.Version, Each: each,
		NullStore: func(size int64) *exec.Cmd { return exec.Command(self, nullStoreCommand, strconv.FormatInt(size, 10)) },
		Measuring: func(op string, size int64, concurrency int) {
			inv.Notef("measuring %s of %s, %d at a time", op, flagtype.FormatSize(size), concurrency)
		},
	})
	switch {
	case errors.Is(err, calibrate.ErrNoRequests):
		return nil, exit.Errorf("%w", err).WithHint("use a longer --duration, or stop other programs on this machine")
	case err != nil:
		return nil, err
	}
	return c, nil
}

// writeCalibration prints the table. A width of 0 is unlimited.
func writeCalibration(w io.Writer, c *calibrate.Report, width int) error {
	fmt.Fprintf(w, "At most, with %d cores and a store that does nothing on the same machine:\n\n", c.Cores)
	column := func(title string, drop int, cell func(p *calibrate.Point) string) columns.Column {
		return columns.New(title, drop, c.Points, cell)
	}
	for _, line := range columns.Fit([]columns.Column{
		column("op", 0, func(p *calibrate.Point) string { return p.Op }),
		column("size", 0, func(p *calibrate.Point) string { return flagtype.FormatSize(p.SizeBytes) }),
		column("workers", 0, func(p *calibrate.Point) string { return strconv.Itoa(p.Concurrency) }),
		column("requests/s", 0, func(p *calibrate.Point) string { return fmt.Sprintf("%.0f", p.RequestsPerS) }),
		column("GiB/s", 1, func(p *calibrate.Point) string { return fmt.Sprintf("%.3f", p.BytesPerS/(1<<30)) }),
		column("p50 [ms]", 4, func(p *calibrate.Point) string { return msOrNone(p.P50MS) }),
		column("p99 [ms]", 2, func(p *calibrate.Point) string { return msOrNone(p.P99MS) }),
		column("CPU/req", 3, func(p *calibrate.Point) string { return fmt.Sprintf("%.1fµs", p.CPUPerReqUS) }),
		column("client", 0, func(p *calibrate.Point) string { return percentOrNone(p.ClientShare) }),
	}, cmp.Or(width, math.MaxInt), nil) {
		fmt.Fprintln(w, line)
	}
	_, err := fmt.Fprintf(w, "\nMemory: %d MiB at most.", c.MaxRSS>>20)
	if c.Saved != "" {
		_, err = fmt.Fprintf(w, " Saved to %s", c.Saved)
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}

func msOrNone(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return strconv.FormatFloat(*ms, 'f', 3, 64)
}

func percentOrNone(share *float64) string {
	if share == nil {
		return "-"
	}
	return strconv.FormatFloat(100**share, 'f', 0, 64) + " %"
}

// nullStore returns the command of the second process.
func nullStore() *command.Command {
	return &command.Command{
		Name: nullStoreCommand, Args: "SIZE", Bare: true, MinArgs: 1, MaxArgs: 1, Needs: "the size of downloads",
		Summary: "answer every request and do nothing",
		Run: func(_ context.Context, inv *command.Invocation) error {
			size, err := flagtype.ParseSize(inv.Args[0])
			if err != nil {
				return exit.Usagef("%w", err)
			}
			null, err := s3mem.StartNull(s3mem.NullOptions{Size: size})
			if err != nil {
				return exit.Errorf("start the null store: %w", err)
			}
			defer null.Close()
			if _, err := fmt.Fprintln(inv.Out, null.Addr()); err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, inv.In)
			return err
		},
	}
}
