package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/pkg/bench/pacing"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// Options are the options that all benchmarks have in common.
type Options struct {
	Benchmark string // command name
	Warp      string // version
	RunID     string
	ClientID  string
	LeaseID   string // names the run's marker; RunID if empty
	Bucket    string
	// MoreBuckets are used in addition to Bucket, which is the first. Worker i
	// works in bucket i mod their number.
	MoreBuckets []string
	Prefix      string // in front of the run's own prefix
	Layout      generator.Layout
	Seed        uint64
	// ObjectsSeed is the seed of the objects that another process keeps for this run, as the same client of as many; nil = Seed.
	ObjectsSeed *uint64
	// Clients is the number of clients that were started by hand with this seed, and
	// Client the number of this one, from 0. Their names and random choices differ.
	// 0 clients = this run is the only one.
	Client, Clients int
	Concurrency     int
	Duration        time.Duration
	MaxObjects      int64   // ends the run once that many objects are written; 0 = no limit
	TotalSize       int64   // the same in bytes
	Rate            float64 // requests/s of an open loop; 0 = closed loop
	// Stages are the rates of an open loop whose rate changes, of all Clients together. Each is reported like a statement of a
	// script.
	Stages []pacing.Stage
	// Rates are like Stages, but all of them are reported together, and each has as many requests as its rate says, also with
	// Poisson: the numbers are those of a log, whose randomness is in them already.
	Rates []pacing.Stage
	Like  string // names the profile that sets the load; "" = none
	// Times are the due times of an open loop that repeats requests of the past. All of them are measured, and the run ends with
	// the last one.
	Times          pacing.Times `json:"-"`
	Poisson        bool         // the requests of an open loop arrive at random, and not evenly
	Retries        int
	RequestTimeout time.Duration // of a whole request, however steadily it moves; 0 = none
	Batch          int           // max objects that a request of clean-up lists or deletes; 0 = as many as the store allows
	MaxErrors      ErrorLimit
	Payload        generator.PayloadOptions
	Verify         verify.Mode
	// ObjectName is the name, after Prefix, of the only object of the operation; "" =
	// names are generated. If another run already uses the name, this run uses a
	// different one, unless a person has given it.
	ObjectName      string
	ObjectNameGiven bool
	ReadOnly        bool   // use the objects in the bucket: write nothing, not even a marker
	NoBucket        bool   // with ReadOnly: the operation needs no bucket
	Versions        bool   // the operation needs a versioned bucket
	Lock            bool   // the operation needs a bucket with object lock, and locks what it uploads
	LockBucket      string // with Lock: used if Bucket exists without object lock; "" = refuse
	KeepData        bool   // leave this run's objects
	NoClear         bool   // leave this run's and all earlier runs' objects
	ClearBucket     bool   // empty the bucket first; the caller has checked --destroy
	AllowDeadHosts  bool   // go on if some of several hosts do not answer
	Lease           time.Duration
	Warmup          time.Duration // the window begins no earlier than this after the start
	Drain           time.Duration // how long requests may take to finish after the end; 0 = see minDrain
	TraceHTTP       bool          // record the phases of requests from the start on, see [Runner.SetTrace]
	TraceSample     int           // traces one request of that many, chosen at random; at least 1
	Checks          *oplog.Checks // what warp consistency checks; nil in other runs
	Replay          *oplog.Replay // the log whose requests are sent again; nil in other runs
	// Redact removes secrets from messages of a store; nil = there are none.
	Redact func(string) string `json:"-"`
}

// MaxThreads is the maximum number of workers of a client. Readers of the op log
// cannot distinguish more.
const MaxThreads = 1 << 16

// stream returns the number of a worker's random stream, which is unique among all
// clients of the seed.
func (o *Options) stream(worker int) int { return o.Client*MaxThreads + worker }

// schedule returns when the requests of an open loop are due.
func (o *Options) schedule() pacing.Schedule {
	s := pacing.Schedule{Times: o.Times, Rate: o.Rate, Arrivals: pacing.Arrivals{
		Poisson: o.Poisson, Counted: len(o.Rates) > 0, Seed: o.Seed, Stream: o.stream(0), Client: o.Client, Clients: o.Clients,
	}}
	clients := float64(max(o.Clients, 1))
	for _, stage := range append(slices.Clip(o.Stages), o.Rates...) {
		s.Stages = append(s.Stages, pacing.Stage{Length: stage.Length, From: stage.From / clients, To: stage.To / clients})
	}
	return s
}

// OpenLoop reports whether requests are sent on a schedule.
func (o *Options) OpenLoop() bool {
	return o.Rate > 0 || len(o.Stages)+len(o.Rates) > 0 || o.Times != nil
}

// Header returns the header of an op log of the run, without the command line.
func (o *Options) Header(engine string, start time.Time) oplog.Header {
	var stages []string
	for _, s := range o.Stages {
		stages = append(stages, s.Title())
	}
	return oplog.Header{
		Statements: stages, Staged: len(stages) > 0,
		Warp: o.Warp, Run: o.RunID, Client: o.ClientID, Benchmark: o.Benchmark, Seed: o.Seed,
		Engine: engine, Start: start.UTC(), Windowed: true, Checks: o.Checks, Like: o.Like, Replay: o.Replay,
	}
}

// Promise adds to Checks what a store does not promise.
func (o *Options) Promise(c *store.Contract) {
	if o.Checks == nil {
		return
	}
	checks := *o.Checks
	checks.Unordered, checks.NotPromised = c.Unordered, nil
	for property, why := range c.Breaks {
		if checks.NotPromised == nil {
			checks.NotPromised = map[string]string{}
		}
		checks.NotPromised[string(property)] = why
	}
	o.Checks = &checks
}

// Buckets returns the names of all buckets in the form of --bucket.
func (o *Options) Buckets() string { return strings.Join(o.allBuckets(), ",") }

func (o *Options) allBuckets() []string { return append([]string{o.Bucket}, o.MoreBuckets...) }

// FullPrefix returns the prefix of all names of the run.
func (o *Options) FullPrefix() string {
	if o.Layout.Loader {
		return joinPrefix(o.Prefix, "")
	}
	return o.prefixOf(o.Client)
}

// prefixOf returns the prefix of all names of one of the clients that share the seed.
func (o *Options) prefixOf(client int) string {
	return joinPrefix(o.Prefix, generator.ClientPrefix(o.Seed, client, o.Clients))
}

// objectsSeed returns the seed of the objects that are read.
func (o *Options) objectsSeed() uint64 {
	if o.ObjectsSeed != nil {
		return *o.ObjectsSeed
	}
	return o.Seed
}

// objectKey returns the key of the only object of the operation, or "" if there is
// none. Each client of a shared seed has its own object.
func (o *Options) objectKey() string {
	if o.ObjectName == "" {
		return ""
	}
	key := joinPrefix(o.Prefix, o.ObjectName)
	if o.Clients > 1 {
		key = fmt.Sprintf("%s.%d", key, o.Client)
	}
	return key
}

func joinPrefix(user, own string) string {
	if user != "" && user[len(user)-1] != '/' {
		user += "/"
	}
	return user + own
}

// An ErrorLimit is the number or share of requests that may fail before a run ends.
type ErrorLimit struct {
	Set     bool
	Count   int64
	Percent float64 // used if IsPct
	IsPct   bool
}

// minForPercent is the minimum number of requests for a percentage, since a share of
// few means little.
const minForPercent = 100

// Exceeded reports whether the given number of failures ends a run.
func (l ErrorLimit) Exceeded(failed, sent int64) bool {
	switch {
	case !l.Set:
		return false
	case l.IsPct:
		return sent >= minForPercent && float64(failed)*100 > l.Percent*float64(sent)
	}
	return failed > l.Count
}

// Allows reports whether the given number of failures is within the limit. Without a
// limit it must be 0.
func (l ErrorLimit) Allows(failed, sent int64) bool {
	if !l.Set {
		return failed == 0
	}
	if l.IsPct {
		return float64(failed)*100 <= l.Percent*float64(max(sent, 1))
	}
	return failed <= l.Count
}

func (l ErrorLimit) String() string {
	switch {
	case !l.Set:
		return ""
	case l.IsPct:
		return fmt.Sprintf("%g%%", l.Percent)
	}
	return fmt.Sprint(l.Count)
}

// Limits of the time that a run waits for the first row of each worker.
const (
	shortestWarmUp = 2 * time.Second
	longestWarmUp  = 10 * time.Second
)

// maxWarmUp returns how long a run of the given duration (0 = without end) waits for
// its workers to become warm. A worker that is stuck cannot delay it further.
func maxWarmUp(duration time.Duration) time.Duration {
	if duration == 0 {
		return longestWarmUp
	}
	return min(max(shortestWarmUp, duration/20), longestWarmUp, duration/2)
}

// MaxWarmUp returns the time from the start after which the window begins even if
// workers have no row yet.
func (o *Options) MaxWarmUp() time.Duration { return max(o.Warmup, maxWarmUp(o.Duration)) }
