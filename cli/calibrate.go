package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/hostload"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// nullStoreCommand is how calibrate starts warp again as its null store. It is
// in no help.
const nullStoreCommand = "null-store"

// A calibration is what this machine can do at most, as far as warp goes.
type calibration struct {
	Version int                `json:"version"`
	Warp    string             `json:"warp"`
	Time    time.Time          `json:"time"`
	Cores   int                `json:"cores"`
	Points  []calibrationPoint `json:"points"`
	MaxRSS  int64              `json:"max_rss"` // bytes, of warp without its store
	Saved   string             `json:"-"`
}

// A calibrationPoint is one operation at one size and concurrency.
type calibrationPoint struct {
	Op           string   `json:"op"`
	SizeBytes    int64    `json:"size_bytes"`
	Concurrency  int      `json:"concurrency"`
	RequestsPerS float64  `json:"requests_per_s"`
	BytesPerS    float64  `json:"bytes_per_s"`
	P50MS        *float64 `json:"p50_ms"` // null where no request was long enough inside the run
	P99MS        *float64 `json:"p99_ms"`
	CPUPerReqUS  float64  `json:"cpu_us_per_request"`
}

func calibrateCommand() *command {
	var each time.Duration
	return &command{
		name: "calibrate", section: sectionOther,
		summary: "find out what this machine can do at most",
		about: []string{
			"Runs uploads, downloads and stats against a null store, which does nothing, in a second process",
			"on this machine. A real store's figures near these are the machine's, not the store's.",
		},
		groups: []flagGroup{{title: groupRun, flags: []cli.Flag{
			&flagtype.Duration{Name: "duration", Value: 1500 * time.Millisecond, Destination: &each, Usage: "`TIME` to measure each row for",
				Validator: func(d time.Duration) error {
					if d < 100*time.Millisecond {
						return flagtype.Wrong("%s is too short; the minimum is 100ms", human.Duration(d))
					}
					return nil
				}},
		}}},
		run: func(ctx context.Context, inv *invocation) error {
			c, err := calibrate(ctx, inv, each)
			if err != nil {
				return err
			}
			if err := c.save(); err != nil {
				inv.warnf("%v", err)
			}
			return inv.result(func(w io.Writer) error {
				if inv.json {
					return writeJSON(w, c)
				}
				return c.write(w)
			})
		},
	}
}

// calibrate measures all points, those of one size against one store.
func calibrate(ctx context.Context, inv *invocation, each time.Duration) (*calibration, error) {
	c := &calibration{Version: 1, Warp: thisBuild().version, Time: time.Now().UTC(), Cores: runtime.GOMAXPROCS(0)}
	for _, part := range []struct {
		size        int64
		ops         []string
		concurrency []int
	}{
		{1 << 10, []string{"get", "put", "stat"}, []int{1, 8, 64}},
		{10 << 20, []string{"get", "put"}, []int{1, 8}},
	} {
		err := withNullStore(part.size, func(addr string) error {
			for _, op := range part.ops {
				for _, n := range part.concurrency {
					inv.notef("measuring %s of %s, %d at a time", op, flagtype.FormatSize(part.size), n)
					if err := c.measure(ctx, addr, op, part.size, n, each); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// withNullStore runs do beside a null store in a process of its own, whose CPU
// time and memory are not warp's.
func withNullStore(size int64, do func(addr string) error) error {
	self, err := os.Executable()
	if err != nil {
		return runError("start the null store: %w", err)
	}
	null := exec.Command(self, nullStoreCommand, strconv.FormatInt(size, 10))
	hold, err := null.StdinPipe() // the store ends with it, and so with this process
	if err != nil {
		return runError("start the null store: %w", err)
	}
	said, err := null.StdoutPipe()
	if err == nil {
		err = null.Start()
	}
	if err != nil {
		return runError("start the null store: %w", err)
	}
	defer null.Wait()
	defer hold.Close()
	addr, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return runError("start the null store: it said nothing: %w", err)
	}
	return do(strings.TrimSpace(addr))
}

// measure measures until there is something to measure: on a machine that is busy a short time may pass without a request.
func (c *calibration) measure(ctx context.Context, addr, op string, size int64, concurrency int, each time.Duration) error {
	const attempts = 5
	var none error
	for range attempts {
		summary := aggregate.NewSummary(aggregate.Options{Op: op})
		out, err := calibrationRun(ctx, addr, op, size, concurrency, each, summary)
		if err != nil {
			return err
		}
		summary.Close(out.Trailer)
		report, err := summary.Report()
		if err == nil {
			c.add(report.Operations[0], size, out.Trailer.Load)
			return nil
		}
		none = err
	}
	return runError("%s of %s, %d at a time, %d times for %v: %w", op, flagtype.FormatSize(size), concurrency, attempts, each, none).tell("give --duration more, or end what else runs on the machine")
}

func calibrationRun(ctx context.Context, addr, op string, size int64, concurrency int, each time.Duration, sink bench.Sink) (out *bench.Outcome, err error) {
	client, err := engines.New(store.Config{
		Hosts: store.Addresses([]string{addr}), Region: "us-east-1", Concurrency: concurrency,
		Credentials: credentials.NewStaticV4("calibrate", "calibrate", ""),
	})
	if err != nil {
		return out, err
	}
	defer client.Close()
	operation, err := calibrationOp(op, size, concurrency)
	if err != nil {
		return out, err
	}
	id := randomID()
	runner := &bench.Runner{Client: client, Op: operation, Options: bench.Options{
		Benchmark: op, Warp: thisBuild().version, RunID: id, ClientID: id, Bucket: "calibrate",
		Concurrency: concurrency, Duration: each, Lease: time.Minute, Drain: time.Minute,
		Payload: generator.PayloadOptions{},
	}}
	if err := runner.Open(ctx); err != nil {
		return out, err
	}
	out = runner.Run(ctx, sink)
	_ = runner.Cleanup(context.WithoutCancel(ctx)) // the store keeps nothing anyway
	switch {
	case out.Fatal != nil:
		return out, out.Fatal
	case out.Failed > 0:
		return out, runError("%d of %d requests to the null store failed", out.Failed, out.Sent)
	}
	return out, nil
}

func calibrationOp(op string, size int64, concurrency int) (bench.Op, error) {
	sizes, err := generator.ParseSizes(strconv.FormatInt(size, 10), false)
	pool := bench.Pool{Objects: max(concurrency, 16), Sizes: sizes}
	switch op {
	case "get":
		return &bench.Get{Pool: pool}, err
	case "put":
		return &bench.Put{Sizes: sizes}, err
	default:
		return &bench.Stat{Pool: pool}, err
	}
}

func (c *calibration) add(op aggregate.Operation, size int64, load *hostload.Load) {
	p := calibrationPoint{
		Op: op.Op, SizeBytes: size, Concurrency: op.Concurrency,
		RequestsPerS: op.ObjectsPerS, BytesPerS: op.BytesPerS,
	}
	if op.Duration != nil {
		p.P50MS, p.P99MS = &op.Duration.P50, &op.Duration.P99
	}
	if op.Requests > 0 {
		p.CPUPerReqUS = 1e6 * load.CPUSeconds / float64(op.Requests)
	}
	c.MaxRSS = max(c.MaxRSS, load.MaxRSSBytes)
	c.Points = append(c.Points, p)
}

// save keeps the figures in the user's cache folder.
func (c *calibration) save() error {
	folder, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("the calibration is not saved: %w", err)
	}
	path := filepath.Join(folder, "warp", "calibration.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("the calibration is not saved: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "calibration-*")
	if err == nil {
		err = writeJSON(file, c)
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err == nil {
			err = os.Rename(file.Name(), path)
		}
		if err != nil {
			os.Remove(file.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("the calibration is not saved: %w", err)
	}
	c.Saved = path
	return nil
}

// write prints the table.
func (c *calibration) write(w io.Writer) error {
	fmt.Fprintf(w, "At most, with %d cores and a store that does nothing on the same machine:\n\n", c.Cores)
	fmt.Fprintf(w, "%-5s %8s %12s %12s %10s %10s %10s %14s\n", "op", "size", "concurrent", "requests/s", "GiB/s", "50 % [ms]", "99 % [ms]", "CPU/req [µs]")
	for _, p := range c.Points {
		fmt.Fprintf(w, "%-5s %8s %12d %12.0f %10.3f %10s %10s %14.1f\n",
			p.Op, flagtype.FormatSize(p.SizeBytes), p.Concurrency, p.RequestsPerS, p.BytesPerS/(1<<30), msOrNone(p.P50MS), msOrNone(p.P99MS), p.CPUPerReqUS)
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

// nullStore is the second process.
func nullStore() *command {
	return &command{
		name: nullStoreCommand, args: "SIZE", bare: true, minArgs: 1, maxArgs: 1, needs: "the size of downloads",
		summary: "answer every request and do nothing",
		run: func(_ context.Context, inv *invocation) error {
			size, err := flagtype.ParseSize(inv.args[0])
			if err != nil {
				return usageError("%w", err)
			}
			null, err := s3mem.StartNull(s3mem.NullOptions{Size: size})
			if err != nil {
				return runError("start the null store: %w", err)
			}
			defer null.Close()
			if _, err := fmt.Fprintln(inv.out, null.Addr()); err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, inv.in)
			return err
		},
	}
}
