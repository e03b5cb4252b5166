package results

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/hostload"
	"warp/pkg/identity"
	"warp/pkg/oplog"
	"warp/pkg/stats"
)

// A Report contains the results of a log, as plain data. Its JSON form is the output of --json.
// Version 2 may get more fields, but none changes its meaning.
//
// Units: names end in the unit, _s is seconds, _ms milliseconds, _per_s per second; bytes are
// bytes. Times are RFC 3339 with nanoseconds, in UTC. Lists are sorted by name, segments by time.
type Report struct {
	Version    int               `json:"version"`              // 2
	Command    string            `json:"command"`              // command line of the run, without secrets; "" in foreign logs
	Benchmark  string            `json:"benchmark,omitempty"`  // name of the command: get, put, mixed, …
	Engine     string            `json:"engine"`               // engine that sent the requests; "" if unknown
	Warp       string            `json:"warp,omitempty"`       // version of warp that measured
	Runs       []string          `json:"runs,omitempty"`       // ids of the runs in the log
	Seed       uint64            `json:"seed,string"`          // of the run's random choices; "0" if unknown
	Parameters map[string]string `json:"parameters,omitempty"` // flag name to value
	Statements []string          `json:"statements,omitempty"` // of a script, as written, or the stages of --stages; the first has number 1
	Workload   *oplog.Workload   `json:"workload,omitempty"`   // identity of the load: runs with the same id made the same; missing in foreign results
	End        string            `json:"end,omitempty"`        // completed, interrupted, or aborted; "" if the log does not say
	EndReason  string            `json:"end_reason,omitempty"` // why the run ended early

	CutOff     *oplog.CutOff  `json:"cut_off,omitempty"`     // requests that an interrupt ended before their answer
	Pauses     []oplog.Pause  `json:"pauses,omitempty"`      // times in which warp itself did not run
	Picks      *oplog.Picks   `json:"picks,omitempty"`       // requests whose objects were chosen by popularity
	Cache      *Cache         `json:"cache,omitempty"`       // what a cache could have served; missing without --cache
	ClientLoad *hostload.Load `json:"client_load,omitempty"` // cost of the run on the clients' machines
	Conditions *Conditions    `json:"conditions,omitempty"`  // how good the measurement is; missing in results of other tools
	Client     *ClientVerdict `json:"client,omitempty"`      // which figures describe the store; missing if nothing was measured, and in aggregated results

	Warnings    []string      `json:"warnings"`              // notes about the figures; may be empty
	Groups      []GroupReport `json:"groups"`                // operations that ran at the same time, in order of time
	Operations  []Operation   `json:"operations"`            // in order of groups, then by number of requests, largest first
	Replay      *Replay       `json:"replay,omitempty"`      // of warp replay: how well it repeated its log
	Consistency *Consistency  `json:"consistency,omitempty"` // of warp consistency: what the store kept of its promises
	Marks       []MarkReport  `json:"marks,omitempty"`       // marks during the run, in order of time
	Assertions  []Assertion   `json:"assertions,omitempty"`  // of --assert, in the given order
}

// The kinds of groups.
const (
	KindPreparation = "preparation" // requests that started before the measured part of the run
	KindMeasured    = "measured"
	KindStatement   = "statement"  // of a script, or its warm-up
	KindDerived     = "derived"    // operations that ran at the same time, in a log without windows
	KindAggregated  = "aggregated" // the same in aggregated results
)

// GroupReport is about operations that ran at the same time. Its rates are the sums of theirs.
type GroupReport struct {
	Run         string    `json:"run,omitempty"` // set if runs are reported separately, because they hardly overlap
	Kind        string    `json:"kind"`          // such as KindMeasured
	Operations  []string  `json:"operations"`    // names, in the order of the report
	WindowStart time.Time `json:"window_start"`  // start of the window
	WindowEnd   time.Time `json:"window_end"`
	WindowS     float64   `json:"window_s"`
	WindowBasis Basis     `json:"window_basis"` // "measured", "derived", "whole", "none", or "aggregated"
	ColdWorkers int       `json:"cold_workers"` // that had not finished a request when the window began
	Requests    uint64    `json:"requests"`     // all requests, including failed ones and those outside the window
	Errors      uint64    `json:"errors"`       // failed requests that started in the window
	ObjectsPerS float64   `json:"objects_per_s"`
	BytesPerS   float64   `json:"bytes_per_s"`
	Concurrency int       `json:"concurrency"` // threads of all clients
	Clients     int       `json:"clients"`
	Duration    *Stats    `json:"duration_ms,omitempty"` // service time of all operations together; missing if there is only one
	Wire        *Stats    `json:"wire_ms,omitempty"`     // the same without the client's part; also missing if that is unknown

	// The share of the workers' time in the window in which no request of theirs was on the wire, 0 to 1. Missing if unknown,
	// and in an open loop.
	ClientShare *float64 `json:"client_share,omitempty"`

	// For an open loop, all operations together. Missing if some of the requests had no schedule.
	OfferedPerS  float64 `json:"offered_per_s,omitempty"`  // requests due in the window, per second
	AchievedPerS float64 `json:"achieved_per_s,omitempty"` // requests that ended successfully in the window, per second
	Unsent       int64   `json:"unsent,omitempty"`         // requests that were due in the window but never sent
	Response     *Stats  `json:"response_ms,omitempty"`    // from when a request was due to its end, including unsent ones

	Timeline *Timeline `json:"-"` // for assertions; nil unless the options ask for slices, and in a report from a file
}

// FailedPerS returns the failed requests that started in the window, or were due in it, per second.
func (g *GroupReport) FailedPerS() float64 {
	if g.WindowS <= 0 {
		return 0
	}
	return float64(g.Errors) / g.WindowS
}

// An Operation is one kind of request in one group.
//
// Throughput (objects, bytes and figures derived from them) counts every successful request by the
// share of its time inside the window. Latencies are about the successful requests that started in
// the window, however long they took, and errors are the failed requests that started in it. In an
// open loop, requests belong to the window in which they were due.
type Operation struct {
	Op           string            `json:"op"`                  // GET, PUT, …
	Statement    int               `json:"statement,omitempty"` // of a script, from 1
	Warmup       bool              `json:"warmup,omitempty"`    // these are the requests of its WARMUP
	Stage        bool              `json:"stage,omitempty"`     // the statement is a stage of --stages
	Group        int               `json:"group"`               // index into groups
	Requests     uint64            `json:"requests"`            // all requests, including failed ones and those outside the window
	Errors       uint64            `json:"errors"`              // failed requests that started in the window
	ErrorsByCode map[string]uint64 `json:"errors_by_code"`      // by S3 code or warp's name for it
	FirstErrors  []FirstError      `json:"first_errors,omitempty"`
	Retries      uint64            `json:"retries"` // requests that repeated an earlier one of the same row
	Share        float64           `json:"share"`   // share of all requests of the group, 0 to 1

	Start       time.Time `json:"start"` // start of the first request
	Stop        time.Time `json:"stop"`  // end of the last request
	RanS        float64   `json:"ran_s"` // time between them
	WindowStart time.Time `json:"window_start"`
	WindowEnd   time.Time `json:"window_end"`
	WindowS     float64   `json:"window_s"`     // rates are per second of this time
	WindowBasis Basis     `json:"window_basis"` // as in groups; also "whole" for an operation with fewer than 10 requests in the group's window
	Concurrency int       `json:"concurrency"`  // threads of the group, all clients
	Clients     int       `json:"clients"`      // clients of the group

	WarmUp     Outside `json:"before_window"`        // requests that started before the window
	Late       Outside `json:"after_window"`         // requests that started after it
	InFlight   Flight  `json:"in_flight_at_begin"`   // part of before_window: requests in flight when the window began
	Unanswered *Flight `json:"unanswered,omitempty"` // part of errors: requests without an answer at the end of the drain

	ObjectsPerS float64 `json:"objects_per_s"` // 0 if window_s is 0
	BytesPerS   float64 `json:"bytes_per_s"`   // goodput over the window; 0 if window_s is 0
	// The mean size of an object that is transferred in parts, divided by its mean time; 0 for other operations.
	OneObjectBytesPerS float64 `json:"one_object_bytes_per_s,omitempty"`
	Objects            float64 `json:"objects"` // inside the window; the share of a request need not be an integer
	Bytes              uint64  `json:"bytes"`   // inside the window
	Inside             uint64  `json:"inside"`  // successful requests that started in the window

	ObjectBytes  SizeRange `json:"request_bytes"`   // payload per successful request
	ObjectsPerOp SizeRange `json:"request_objects"` // objects per successful request

	Duration *Stats `json:"duration_ms"`           // service time: from sent to end; null if no request was inside
	TTFB     *Stats `json:"ttfb_ms"`               // time to first byte: upload from last byte sent to end; null if not observed
	Response *Stats `json:"response_ms,omitempty"` // open loop: from when the request was due to its end
	Lag      *Stats `json:"lag_ms,omitempty"`      // open loop: how much later than due the request was sent
	// The share of the workers' time that was the client's, of all operations of the group; see there.
	ClientShare *float64 `json:"client_share,omitempty"`

	Wire   *Stats `json:"wire_ms,omitempty"`   // service time without the client's part; missing if that is unknown for more than 1 % of the requests
	Client *Stats `json:"client_ms,omitempty"` // the client's part; missing as wire_ms

	// The histograms in ns, in HdrHistogram's V2 compressed encoding in base64.
	DurationHDR string `json:"duration_histogram,omitempty"`
	ResponseHDR string `json:"response_histogram,omitempty"`

	// In aggregated results, instead of duration_ms and ttfb_ms.
	AveragedDuration *AveragedStats `json:"averaged_duration_ms,omitempty"`
	AveragedTTFB     *AveragedStats `json:"averaged_ttfb_ms,omitempty"`

	HTTPPhases *Phases `json:"http_phases_ms,omitempty"` // --trace-http: phases of a sample of requests

	Hosts      []Part     `json:"hosts"`                // by host; always at least one
	ByClient   []Part     `json:"by_client"`            // by client; always at least one
	SegmentS   float64    `json:"segment_s"`            // length of a segment; the first and the last one may be shorter
	Segments   []Segment  `json:"segments"`             // the whole window, in order
	Throughput *Extremes  `json:"throughput,omitempty"` // fastest, median and slowest segment
	HeatMap    *HeatMap   `json:"heat_map,omitempty"`   // latencies over time; missing if there are none
	Stability  *Stability `json:"stability,omitempty"`  // of the throughput; missing if there are no segments

	Slowest []SlowRequest `json:"slowest"` // the slowest 20 that started in the window, including failed ones; the slowest first

	// Only in verbose reports.
	Accesses    *Accesses   `json:"accesses,omitempty"`     // if objects were accessed more than once
	SizeClasses []SizeClass `json:"size_classes,omitempty"` // if sizes vary

	// Only in a report made from rows.
	Timeline *Timeline     `json:"-"` // for assertions; nil unless the options ask for slices
	Pieces   []stats.Piece `json:"-"` // the segments in full, for exports
}

// Outside counts requests outside the window.
type Outside struct {
	Requests     uint64            `json:"requests"` // including failed ones
	Errors       uint64            `json:"errors"`
	ErrorsByCode map[string]uint64 `json:"errors_by_code,omitempty"`
	FirstErrors  []FirstError      `json:"first_errors,omitempty"`
	LongestMS    float64           `json:"longest_ms"`              // duration of the longest of all these requests, response time in an open loop
	LongestStart *time.Time        `json:"longest_start,omitempty"` // when it started, or was due; missing without requests
}

// A Flight is a number of requests and their durations.
type Flight struct {
	Requests   uint64  `json:"requests"`
	ShortestMS float64 `json:"shortest_ms"`
	LongestMS  float64 `json:"longest_ms"`
}

// A FirstError is the first occurrence of an error code.
type FirstError struct {
	Code     string    `json:"code"`
	Time     time.Time `json:"time"` // the request began
	Error    string    `json:"error"`
	Endpoint string    `json:"endpoint"`
}

// A SizeRange describes amounts per request.
type SizeRange struct {
	Min  uint64  `json:"min"`
	Max  uint64  `json:"max"`
	Mean float64 `json:"mean"`
}

// Stats describe durations in ms. Mean, extremes and standard deviation are
// exact, percentiles within 0.4 % (see stats.Histogram).
type Stats struct {
	Count  uint64  `json:"count"`
	Mean   float64 `json:"mean"`
	P25    float64 `json:"p25"`
	P50    float64 `json:"p50"`
	P75    float64 `json:"p75"`
	P90    float64 `json:"p90"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	StdDev float64 `json:"stddev"`

	// For response times: the number of requests that were never sent, and how long each of them
	// had waited at least. Figures above that are lower bounds.
	Unsent    uint64  `json:"unsent,omitempty"`
	UnsentMin float64 `json:"unsent_min,omitempty"`
}

// AveragedStats describe durations in ms if only figures of parts of the run are known. Count, mean
// and extremes are about all requests. The percentiles are averages of the parts' percentiles,
// weighted by requests, and may differ from the percentiles of all requests.
type AveragedStats struct {
	Count uint64   `json:"count"`
	Mean  float64  `json:"mean"`
	P50   *float64 `json:"averaged_p50"` // null if unknown
	P90   *float64 `json:"averaged_p90"`
	P99   *float64 `json:"averaged_p99"`
	Min   *float64 `json:"min"` // null if unknown
	Max   *float64 `json:"max"`
}

// Phases are the times of the phases of HTTP requests, if they were recorded. null = no such phase
// was seen. The phases of new connections are about the whole run, the others about successful
// requests that started in the window.
type Phases struct {
	DNS     *Stats `json:"dns"`     // new connection: DNS lookup
	Connect *Stats `json:"connect"` // new connection: TCP handshake
	TLS     *Stats `json:"tls"`     // new connection: TLS handshake
	Send    *Stats `json:"send"`    // from having a connection to the last byte written to it
	Wait    *Stats `json:"wait"`    // from there to the first byte of the answer
	Receive *Stats `json:"receive"` // from there to the end of the answer
}

// A Part is the part of one host or one client in an operation.
type Part struct {
	Name        string    `json:"name"`          // the host with scheme and port; the client's address in a fleet, else its id
	Run         string    `json:"run,omitempty"` // of a client, if known
	Requests    uint64    `json:"requests"`      // that started in the window
	Errors      uint64    `json:"errors"`
	Inside      uint64    `json:"inside"`
	Objects     float64   `json:"objects"`
	Bytes       uint64    `json:"bytes"`
	ObjectsPerS float64   `json:"objects_per_s"`
	BytesPerS   float64   `json:"bytes_per_s"`
	Duration    *Stats    `json:"duration_ms"`
	TTFB        *Stats    `json:"ttfb_ms"`
	Wire        *Stats    `json:"wire_ms,omitempty"`
	HTTPPhases  *Phases   `json:"http_phases_ms,omitempty"` // only of a host
	Segments    []Segment `json:"segments,omitempty"`       // of a host, if there are several
	Throughput  *Extremes `json:"throughput,omitempty"`     // of a host, if there are several
}

// A Segment is a part of the window. Everything except errors is about successful requests.
type Segment struct {
	Start       time.Time `json:"start"`
	DurationS   float64   `json:"duration_s"`
	Bytes       uint64    `json:"bytes"`       // by share of time; segments add up to the operation
	Objects     float64   `json:"objects"`     // by share of time; segments add up to the operation
	FullOps     uint64    `json:"full_ops"`    // requests entirely in the segment
	PartialOps  uint64    `json:"partial_ops"` // requests partly in the segment
	OpsStarted  uint64    `json:"ops_started"` // requests that began in the segment
	OpsEnded    uint64    `json:"ops_ended"`   // requests that ended in the segment
	Errors      uint64    `json:"errors"`      // failed requests of the window that started in the segment, or were due in it
	BytesPerS   float64   `json:"bytes_per_s"` // bytes per second of the segment
	ObjectsPerS float64   `json:"objects_per_s"`

	ErrorsByCode map[string]uint64 `json:"errors_by_code,omitempty"` // of all hosts together

	// Missing if no request started in the segment, for each host if there are more than 16 hosts,
	// and in aggregated results.
	Duration  *SegmentStats `json:"duration_ms,omitempty"` // service time; missing if no request was successful
	ErrorRate *float64      `json:"error_rate,omitempty"`  // errors as a share of the requests that started in the segment, or were due in it

	// The client's part of these service times, as a share of their sum; missing if it is unknown for more than 1 % of the requests.
	ClientShare *float64 `json:"client_share,omitempty"`
}

// Rate returns the bytes or the objects per second.
func (s *Segment) Rate(bytes bool) float64 {
	if bytes {
		return s.BytesPerS
	}
	return s.ObjectsPerS
}

// A HeatMap contains how many successful requests started in each segment, by duration.
type HeatMap struct {
	BoundsMS []float64  `json:"bounds_ms"` // bucket i holds times from bound i up to the next bound, exclusive
	Counts   [][]uint64 `json:"counts"`    // by segment and bucket; a row ends with its last count other than 0
}

// A SlowRequest is one of the slowest requests.
type SlowRequest struct {
	Start      time.Time `json:"start"`
	DurationMS float64   `json:"duration_ms"`
	Key        string    `json:"key"`
	Host       string    `json:"host"`
	Client     string    `json:"client"` // its address in a fleet, else its id
	Run        string    `json:"run,omitempty"`
	Thread     uint32    `json:"thread"`
	Bytes      int64     `json:"bytes"`
	Status     uint16    `json:"status"`          // HTTP status; 0 without an answer, or if unknown
	Error      string    `json:"error,omitempty"` // code of a failed request
}

// SegmentStats describe durations of successful requests that started in a segment, in ms:
// percentiles as in Stats, and the exact maximum.
type SegmentStats struct {
	Count uint64  `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Extremes are chosen from the segments, after short ones at the ends are joined to their neighbours, by bytes if
// the operation moves any and by objects otherwise.
type Extremes struct {
	Segments int     `json:"segments"` // number of segments to choose from
	By       string  `json:"by"`       // "bytes" or "objects"
	Fastest  Segment `json:"fastest"`
	Median   Segment `json:"median"` // of an even number, the slower of the two in the middle
	Slowest  Segment `json:"slowest"`
}

// Accesses are the first and the last successful request for each object in
// the log; requests for the same object may find it in a cache.
type Accesses struct {
	Objects   uint64 `json:"objects"`           // distinct objects
	Sampled   bool   `json:"sampled,omitempty"` // a sample of a larger number
	First     *Stats `json:"first_ms"`
	FirstTTFB *Stats `json:"first_ttfb_ms"`
	Last      *Stats `json:"last_ms"`
	LastTTFB  *Stats `json:"last_ttfb_ms"`
}

// A SizeClass is about requests of similar size that started in the window.
type SizeClass struct {
	From     string `json:"from"`      // smallest size, for people
	To       string `json:"to"`        // size at which the next class begins; "" = none
	MinBytes uint64 `json:"min_bytes"` // the same as a number
	Requests uint64 `json:"requests"`
	Bytes    uint64 `json:"bytes"`
	Speed    *Speed `json:"request_bytes_per_s"` // of single requests; null if none took any time
	Duration *Stats `json:"duration_ms"`
	TTFB     *Stats `json:"ttfb_ms"`
}

// Speed is the throughput of single requests in bytes/s. Each percentile is what that share of
// requests reached at least. Mean is all bytes divided by the sum of times.
type Speed struct {
	Mean    float64 `json:"mean"`
	P50     float64 `json:"p50"`
	P90     float64 `json:"p90"`
	P99     float64 `json:"p99"`
	Fastest float64 `json:"fastest"`
	Slowest float64 `json:"slowest"`
}

// Label names an operation in a list of all operations of a report.
func (o *Operation) Label() string {
	if o.Statement == 0 {
		return o.Op
	}
	return o.Op + " (" + o.Part().Title() + ")"
}

// Part returns the statement or stage that the operation belongs to.
func (o *Operation) Part() oplog.Statement {
	return oplog.Statement{Number: uint16(o.Statement), WarmUp: o.Warmup, Stage: o.Stage}
}

// OperationsOf returns the operations of a group.
func (r *Report) OperationsOf(group int) (ops []*Operation) {
	for i := range r.Operations {
		if o := &r.Operations[i]; o.Group == group {
			ops = append(ops, o)
		}
	}
	return ops
}

// Staged reports whether the statements are stages of --stages.
func (r *Report) Staged() bool {
	return slices.ContainsFunc(r.Operations, func(o Operation) bool { return o.Stage })
}

// StatementText returns the statement as written, or what the stage asked for, or "" if unknown.
func (r *Report) StatementText(number int) string {
	if number < 1 || number > len(r.Statements) {
		return ""
	}
	return r.Statements[number-1]
}

// HasBytes reports whether the operation moves payload; STAT and DELETE do not.
func (o *Operation) HasBytes() bool { return o.ObjectBytes.Max > 0 }

// Describe adds what the log's comments say about the run. It is separate from Analyze because the
// trailer of a log is known only after reading it.
func (r *Report) Describe(h oplog.Header, t oplog.Trailer) {
	r.Command, r.Benchmark, r.Engine, r.Warp = h.Command, h.Benchmark, h.Engine, h.Warp
	r.Seed, r.Parameters, r.Statements = h.Seed, h.Parameters, h.Statements
	for i := range r.Operations {
		r.Operations[i].Stage = h.Staged && r.Operations[i].Statement > 0
	}
	r.Workload = new(identity.Recorded(&h))
	r.End, r.EndReason = t.End, t.Reason
	r.CutOff, r.Pauses, r.Picks, r.ClientLoad = t.CutOff, t.Pauses, t.Picks, t.Load
	if t.End != "" && t.End != "completed" {
		w := "The run was " + t.End
		if t.Reason != "" {
			w += ": " + t.Reason
		}
		r.Warnings = append(r.Warnings, w+".")
	}
	if c := t.CutOff; c != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s cut off by the interrupt and %s in no figure; the longest had waited %s.",
			human.Count(c.Count, "request was", "requests were"), human.Choose(c.Count, "is", "are"), human.Millis(1e3*c.LongestS)))
	}
	r.Warnings = append(r.Warnings, pauseWarnings(t.Pauses)...)
	r.Warnings = append(r.Warnings, t.Notes...)
	r.NameClients(h)
	r.judgeClient()
	r.setConditions(r.unsentWithoutRows(&t))
}

// pauseWarnings returns a warning for each pause, one for clients that paused together.
func pauseWarnings(pauses []oplog.Pause) (warnings []string) {
	clients := make(map[string]int)
	for _, p := range pauses {
		w := fmt.Sprintf("warp did not run for %s from %s on: the process was stopped, or the machine was suspended.",
			human.Millis(1e3*p.Seconds), p.At.UTC().Format(time.RFC3339))
		if clients[w]++; clients[w] == 1 {
			warnings = append(warnings, w)
		}
	}
	for i, w := range warnings {
		if n := clients[w]; n > 1 {
			warnings[i] = strings.Replace(w, "warp did not run", fmt.Sprintf("warp did not run on %d clients", n), 1)
		}
	}
	return warnings
}

// NameClients names the clients of a fleet by their addresses, as the command line did. Their ids are known to logs only.
func (r *Report) NameClients(h oplog.Header) {
	type client struct{ run, id string }
	addresses := make(map[client]string)
	for _, o := range append(slices.Clip(h.Merged), oplog.Origin{Run: h.Run, Client: h.Client, Header: h}) {
		if o.Header.Address != "" {
			addresses[client{o.Run, o.Client}] = o.Header.Address
		}
	}
	if len(addresses) == 0 {
		return
	}
	name := func(of *string, run string) {
		if address, ok := addresses[client{run, *of}]; ok {
			*of = address
		}
	}
	for i := range r.Operations {
		op := &r.Operations[i]
		for j := range op.ByClient {
			name(&op.ByClient[j].Name, op.ByClient[j].Run)
		}
		for j := range op.Slowest {
			name(&op.Slowest[j].Client, op.Slowest[j].Run)
		}
	}
}

// Cache says what a cache could have served if it evicts the least recently used object. All requests of the log use it, also
// the preparation. Shares are of the successful downloads that started in the window.
type Cache struct {
	Size          int64   `json:"size"`           // bytes
	Requests      uint64  `json:"requests"`       // downloads
	Bytes         uint64  `json:"bytes"`          // that they transferred
	FirstRequests uint64  `json:"first_requests"` // downloads of objects that the log had not used before
	Objects       uint64  `json:"objects"`        // that the log uploads or downloads
	Sampled       float64 `json:"sampled"`        // share of the objects that were counted; 1 = all, so that the figures are exact
	RequestsShare float64 `json:"requests_share"` // of the downloads that the cache could have served, 0 to 1
	RequestsError float64 `json:"requests_error"` // half of the 95 % interval; 0 = exact
	BytesShare    float64 `json:"bytes_share"`    // the same for the bytes
	BytesError    float64 `json:"bytes_error"`
}

// Sentence says it for people.
func (c *Cache) Sentence() string {
	s := fmt.Sprintf("one of %s (LRU) could have served %s of the downloads and %s of their bytes", human.Bytes(float64(c.Size)),
		human.Percent(c.RequestsShare, c.RequestsError), human.Percent(c.BytesShare, c.BytesError))
	if first := float64(c.FirstRequests) / float64(c.Requests); first > .0005 {
		s += fmt.Sprintf("; %.1f %% were the first use of an object", 100*first)
	}
	return s
}

// Hottest says how many of the requests the hottest objects got; "" if objects were not chosen by popularity.
func (r *Report) Hottest() string {
	if r.Picks == nil || r.Picks.All == 0 {
		return ""
	}
	return fmt.Sprintf("the hottest 1 %% of the objects got %.1f %% of the requests that chose an object", 100*float64(r.Picks.Hottest)/float64(r.Picks.All))
}
