// Package calibrate measures the limits of this machine for warp: requests to a store that does
// nothing, in a process of its own.
package calibrate

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"warp/internal/tempfile"
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/bench/recording"
	"warp/pkg/generator"
	"warp/pkg/hostload"
	"warp/pkg/results"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// A Report has the limits of this machine for warp.
type Report struct {
	Version int       `json:"version"`
	Warp    string    `json:"warp"`
	Time    time.Time `json:"time"`
	Cores   int       `json:"cores"`
	Points  []Point   `json:"points"`
	MaxRSS  int64     `json:"max_rss"` // bytes, of warp without its store
	Saved   string    `json:"-"`
}

// A Point is one operation at one size and concurrency.
type Point struct {
	Op           string   `json:"op"`
	SizeBytes    int64    `json:"size_bytes"`
	Concurrency  int      `json:"concurrency"`
	RequestsPerS float64  `json:"requests_per_s"`
	BytesPerS    float64  `json:"bytes_per_s"`
	P50MS        *float64 `json:"p50_ms"` // null where no request was long enough inside the run
	P99MS        *float64 `json:"p99_ms"`
	CPUPerReqUS  float64  `json:"cpu_us_per_request"`
	ClientShare  *float64 `json:"client_share"` // of the time of the requests, 0 to 1; null where the kernel does not stamp
}

// Options say what to measure with.
type Options struct {
	Warp string        // version
	Each time.Duration // of one point
	// NullStore returns the command of a null store that serves objects of a size. It writes its address to standard
	// output, and ends when its standard input does.
	NullStore func(size int64) *exec.Cmd
	// Measuring is called before each point.
	Measuring func(op string, size int64, concurrency int)
}

// ErrNoRequests says that no request was long enough inside the time of a point, several times.
var ErrNoRequests = errors.New("nothing to measure")

// Run measures all points, with one store per size.
func Run(ctx context.Context, o Options) (*Report, error) {
	c := &Report{Version: 1, Warp: o.Warp, Time: time.Now().UTC(), Cores: runtime.GOMAXPROCS(0)}
	for _, part := range []struct {
		size        int64
		ops         []string
		concurrency []int
	}{
		{1 << 10, []string{"get", "put", "stat"}, []int{1, 8, 64}},
		{10 << 20, []string{"get", "put"}, []int{1, 8}},
	} {
		err := withNullStore(o.NullStore(part.size), func(addr string) error {
			for _, op := range part.ops {
				for _, n := range part.concurrency {
					o.Measuring(op, part.size, n)
					if err := c.measure(ctx, addr, op, part.size, n, o.Each); err != nil {
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

// startTimeout limits how long the null store may take to start.
const startTimeout = 30 * time.Second

// withNullStore runs do while a null store runs in a process of its own, whose CPU
// time and memory are not warp's.
func withNullStore(null *exec.Cmd, do func(addr string) error) error {
	stdin, err := null.StdinPipe() // the store ends with it, and so with this process
	if err != nil {
		return fmt.Errorf("start the null store: %w", err)
	}
	said, err := null.StdoutPipe()
	if err == nil {
		err = null.Start()
	}
	if err != nil {
		return fmt.Errorf("start the null store: %w", err)
	}
	defer null.Wait()
	defer null.Process.Kill() // it has nothing to save
	defer stdin.Close()
	late := time.AfterFunc(startTimeout, func() { _ = null.Process.Kill() })
	addr, err := bufio.NewReader(said).ReadString('\n')
	late.Stop()
	if err != nil {
		return fmt.Errorf("start the null store: it printed nothing: %w", err)
	}
	return do(strings.TrimSpace(addr))
}

// measure measures until there is something to measure: on a machine that is busy a short time may pass without a request.
func (c *Report) measure(ctx context.Context, addr, op string, size int64, concurrency int, each time.Duration) error {
	const attempts = 5
	var none error
	for range attempts {
		summary := aggregate.NewSummary(aggregate.Options{Op: op})
		out, err := measureOnce(ctx, addr, op, size, concurrency, each, summary)
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
	return fmt.Errorf("%s of %s, %d at a time, %d times for %v: %w: %w", op, generator.FormatSize(size), concurrency, attempts, each, ErrNoRequests, none)
}

func measureOnce(ctx context.Context, addr, op string, size int64, concurrency int, each time.Duration, sink recording.Sink) (out *bench.Outcome, err error) {
	client, err := engines.New(store.Config{
		Hosts: store.Addresses([]string{addr}), Region: "us-east-1", Concurrency: concurrency,
		Credentials: store.Keys{AccessKey: "calibrate", SecretKey: "calibrate"},
	})
	if err != nil {
		return out, err
	}
	defer client.Close()
	operation, err := operation(op, size, concurrency)
	if err != nil {
		return out, err
	}
	id := rand.Text()[:4]
	runner := &bench.Runner{Client: client, Op: operation, Options: bench.Options{
		Benchmark: op, RunID: id, ClientID: id, Bucket: "calibrate",
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
		return out, fmt.Errorf("%d of %d requests to the null store failed", out.Failed, out.Sent)
	}
	return out, nil
}

func operation(op string, size int64, concurrency int) (bench.Op, error) {
	sizes, err := generator.ParseSizes(strconv.FormatInt(size, 10), false)
	pool := ops.Pool{Objects: max(concurrency, 16), Sizes: sizes}
	switch op {
	case "get":
		return &ops.Get{Pool: pool}, err
	case "put":
		return &ops.Put{Sizes: sizes}, err
	default:
		return &ops.Stat{Pool: pool}, err
	}
}

func (c *Report) add(op results.Operation, size int64, load *hostload.Load) {
	p := Point{
		Op: op.Op, SizeBytes: size, Concurrency: op.Concurrency,
		RequestsPerS: op.ObjectsPerS, BytesPerS: op.BytesPerS,
	}
	if op.Duration != nil {
		p.P50MS, p.P99MS = &op.Duration.P50, &op.Duration.P99
	}
	p.ClientShare = op.ClientShare
	if op.Requests > 0 {
		p.CPUPerReqUS = 1e6 * load.CPUSeconds / float64(op.Requests)
	}
	c.MaxRSS = max(c.MaxRSS, load.MaxRSSBytes)
	c.Points = append(c.Points, p)
}

// Save keeps the figures in the user's cache folder.
func (c *Report) Save() error {
	folder, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("the calibration is not saved: %w", err)
	}
	path := filepath.Join(folder, "warp", "calibration.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("the calibration is not saved: %w", err)
	}
	err = tempfile.Replace(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(c)
	})
	if err != nil {
		return fmt.Errorf("the calibration is not saved: %w", err)
	}
	c.Saved = path
	return nil
}
