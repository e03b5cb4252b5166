package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	influxdb2 "github.com/influxdata/influxdb-client-go/v2"
	"github.com/influxdata/influxdb-client-go/v2/api"
	influxhttp "github.com/influxdata/influxdb-client-go/v2/api/http"
	"github.com/influxdata/influxdb-client-go/v2/api/write"

	"warp/internal/redirects"
	"warp/pkg/oplog"
)

// InfluxOptions say where to send points, and which.
type InfluxOptions struct {
	Server      string // scheme://host:port
	Token       string
	Bucket, Org string
	Tags        map[string]string // on every point
	ID          string            // id of this client, for the tag warp_id
	Every       bool              // one point for each request, instead of one per interval
	Interval    time.Duration     // between points; 0 = 1 s
}

// Tags that warp sets itself.
const (
	tagID       = "warp_id"
	tagOp       = "op"
	tagEndpoint = "endpoint"
)

const influxForm = "http://TOKEN@HOST:8086/BUCKET/ORG?TAG=VALUE"

// ParseInflux parses SCHEME://TOKEN@HOST:PORT/BUCKET/ORG?TAG=VALUE. Its errors do not contain the
// token.
func ParseInflux(text string) (InfluxOptions, error) {
	u, err := url.Parse(text)
	if err != nil {
		return InfluxOptions{}, errors.New("is not a URL such as " + influxForm)
	}
	o := InfluxOptions{Server: u.Scheme + "://" + u.Host}
	if o.Token = u.User.Username(); o.Token != "" {
		if password, both := u.User.Password(); both {
			o.Token += ":" + password // version 1 has user and password here
		}
	}
	path := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	for i := range path {
		if path[i], err = url.PathUnescape(path[i]); err != nil {
			return o, fmt.Errorf("has an unexpected path; write %s", influxForm)
		}
	}
	o.Bucket = path[0]
	if len(path) > 1 {
		o.Org = path[1]
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return o, fmt.Errorf("begins with neither http:// nor https://; write %s", influxForm)
	case u.Host == "":
		return o, fmt.Errorf("names no host; write %s", influxForm)
	case strings.Contains(u.EscapedPath(), "@"):
		return o, fmt.Errorf("has an @ after the first /: write a / of the token as %%2F, as in %s", influxForm)
	case o.Bucket == "":
		return o, fmt.Errorf("names no bucket; write %s", influxForm)
	case len(path) > 2:
		return o, fmt.Errorf("has more than BUCKET/ORG after the host; write %s", influxForm)
	}
	o.Tags, err = influxTags(u.RawQuery)
	return o, err
}

func influxTags(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("has tags that cannot be read; write %s", influxForm)
	}
	tags := make(map[string]string)
	for name, list := range values {
		value := list[len(list)-1]
		switch {
		case name == tagID || name == tagOp || name == tagEndpoint:
			return nil, fmt.Errorf("sets the tag %s, which warp sets itself", name)
		case name == "time" || name == "_field" || name == "_measurement":
			return nil, fmt.Errorf("sets the tag %s, a name that InfluxDB reserves", name)
		case name == "" || value == "":
			return nil, fmt.Errorf("has a tag without a name or a value; write %s", influxForm)
		}
		tags[name] = value
	}
	return tags, nil
}

const (
	influxWait  = 10 * time.Second // for one answer
	influxLast  = 10 * time.Second // for everything that is left at the end
	influxQueue = 16               // batches that may wait
	influxBatch = 5000             // points in one request
)

// influx is a recording.Sink that sends points to InfluxDB version 2.
type influx struct {
	opts   InfluxOptions
	client influxdb2.Client
	api    api.WriteAPIBlocking

	// The goroutine of the collector uses the following fields.
	totals   totals
	window   oplog.Window   // as far as it is known
	measured totals         // requests that belong to the window
	rows     []oplog.Record // with Every: since the last Flush
	last     time.Time

	wait   time.Duration // max wait at the end
	buffer *buffer[[]*write.Point]
	stop   context.CancelFunc
}

// checkInflux rejects what the flags of a coordinator would have rejected.
func (d *Destinations) checkInflux() error {
	if d.Influx == nil {
		return nil
	}
	u, err := url.Parse(d.Influx.Server)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != d.Influx.Server:
		return errors.New("the address of InfluxDB is not http://HOST:PORT or https://HOST:PORT")
	case d.Influx.Interval != 0 && d.Influx.Interval < MinInterval:
		return fmt.Errorf("every %v is too often for points to InfluxDB", d.Influx.Interval)
	}
	return nil
}

func (d *Destinations) openInflux(ctx context.Context, client string, warn func(text string)) (Export, error) {
	if d.Influx == nil {
		return nil, nil
	}
	o := *d.Influx
	o.ID = client
	i := newInflux(o)
	switch err := i.check(ctx); {
	case errors.Is(err, errRefused):
		i.Close()
		return nil, fmt.Errorf("--influxdb: %s: %w; check the token, the bucket and the organisation in the URL", o.Server, err)
	case err != nil:
		warn(fmt.Sprintf("InfluxDB at %s: %v; the run goes on, and counts what does not arrive", o.Server, err))
	}
	return i, nil
}

// newInflux returns a sink that sends in the background.
func newInflux(o InfluxOptions) *influx {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	ctx, stop := context.WithCancel(context.Background())
	i := &influx{opts: o, wait: influxLast, stop: stop}
	options := influxdb2.DefaultOptions().SetHTTPRequestTimeout(uint(influxWait / time.Second)).
		SetLogLevel(0).SetPrecision(time.Nanosecond)
	options.HTTPOptions().HTTPClient().CheckRedirect = redirects.Refuse
	i.client = influxdb2.NewClientWithOptions(o.Server, o.Token, options)
	i.api = i.client.WriteAPIBlocking(o.Org, o.Bucket)
	i.buffer = newBuffer(influxQueue, func(points []*write.Point) error {
		return i.clean(i.api.WritePoint(ctx, points...))
	}).start()
	return i
}

// errRefused means that there is a server that does not accept the points: the token or the bucket
// is wrong.
var errRefused = errors.New("InfluxDB refuses the points")

// check checks whether the server answers, accepts the token, and has the bucket. It writes no
// points, which is allowed.
func (i *influx) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	err := i.api.WriteRecord(ctx, "\n")
	var answer *influxhttp.Error
	if errors.As(err, &answer) && (answer.StatusCode/100 == 4 || answer.StatusCode/100 == 3) && answer.StatusCode != http.StatusTooManyRequests {
		return fmt.Errorf("%w: %w", errRefused, i.clean(err))
	}
	return i.clean(err)
}

// brief returns an error in one line, because other servers may answer with a page.
func brief(text string) string {
	const maxSize = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxSize {
		text = strings.ToValidUTF8(text[:maxSize], "") + "…"
	}
	return text
}

// clean removes the token from an error.
func (i *influx) clean(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if i.opts.Token != "" {
		text = strings.ReplaceAll(text, i.opts.Token, "***")
	}
	return errors.New(brief(text))
}

// Write counts rows and never waits.
func (i *influx) Write(batch []oplog.Record) error {
	if i.window.Begin != 0 {
		for k := range batch {
			if r := &batch[k]; r.Place(i.window.Begin, i.window.End) == oplog.InWindow {
				i.measured.of(r.Op, r.Endpoint).add(r)
			}
		}
	}
	if i.opts.Every {
		i.rows = append(i.rows, batch...)
		return nil
	}
	for k := range batch {
		i.totals.of(batch[k].Op, batch[k].Endpoint).add(&batch[k])
	}
	return nil
}

// SetWindow sets the window, as far as it is known.
func (i *influx) SetWindow(w oplog.Window) error {
	i.window = w
	return nil
}

// fewRequests is the number of successful requests of an operation that must belong to the window.
// With fewer, its summary is about all of them, as in the report.
const fewRequests = 10

// summarized returns the totals for the summary: of the requests that belong to the window, by
// operation and host, and by operation.
func (i *influx) summarized() []*total {
	enough := make(map[string]bool)
	for _, t := range i.measured.overall() {
		enough[t.op] = t.Time.N >= fewRequests
	}
	var chosen totals
	for _, t := range i.totals.list {
		if !enough[t.op] {
			chosen.of(t.op, t.endpoint).merge(t)
		}
	}
	for _, t := range i.measured.list {
		if enough[t.op] {
			chosen.of(t.op, t.endpoint).merge(t)
		}
	}
	return slices.Concat(chosen.list, chosen.overall())
}

// Flush sends the totals once per interval.
func (i *influx) Flush() error {
	now := time.Now()
	i.every(now.Add(-influxSettle).UnixNano())
	if now.Sub(i.last) < i.opts.Interval-100*time.Millisecond { // it is called about every second
		return nil
	}
	i.last = now
	i.flush(now)
	return nil
}

// influxSettle is the max delay between rows of different workers. Totals have to grow with the
// time of their points.
const influxSettle = 250 * time.Millisecond

// every makes a point for each request that ended before the given time, in order.
func (i *influx) every(until int64) {
	slices.SortFunc(i.rows, func(a, b oplog.Record) int { return cmp.Compare(a.End(), b.End()) })
	n := 0
	var points []*write.Point
	for n < len(i.rows) && i.rows[n].End() <= until {
		r := &i.rows[n]
		n++
		t := i.totals.of(r.Op, r.Endpoint)
		t.add(r)
		// The server keeps only one of two points of a series with the same time.
		t.at = max(r.End(), t.at+1)
		if i.buffer.room() == 0 {
			i.buffer.offer(1) // making a point costs more than counting it
			continue
		}
		if points = append(points, i.point("warp", t, time.Unix(0, t.at))); len(points) == influxBatch {
			i.post(points)
			points = nil
		}
	}
	i.post(points)
	i.rows = slices.Delete(i.rows, 0, n) // which releases the strings
}

func (i *influx) flush(now time.Time) {
	var points []*write.Point
	if !i.opts.Every {
		for _, t := range i.totals.list {
			points = append(points, i.point("warp", t, now))
		}
	}
	for _, t := range i.totals.overall() {
		points = append(points, i.point("warp", t, now))
	}
	i.post(points)
}

// post passes a batch to the buffer, which may drop it.
func (i *influx) post(points []*write.Point) {
	if len(points) > 0 {
		i.buffer.offerWhole(points, int64(len(points)))
	}
}

// Close sends the last totals and the summary, waits for a limited time, and returns what was lost;
// "" = nothing.
func (i *influx) Close() string {
	now := time.Now()
	i.every(math.MaxInt64)
	i.flush(now)
	var summary []*write.Point
	for _, t := range i.summarized() {
		summary = append(summary, i.summary(t, now))
	}
	if n := int64(len(summary)); n > 0 { // it is worth waiting for, even if it does not fit
		i.buffer.offer(n)
		i.buffer.put(summary, 1, n)
	}
	lost, points, err := i.buffer.finish(i.wait)
	i.stop()
	i.client.Close()
	if lost == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d points did not reach InfluxDB", lost, points)
	if err != nil {
		text += ": " + err.Error()
	}
	return text
}

func (i *influx) point(measurement string, t *total, at time.Time) *write.Point {
	p := write.NewPointWithMeasurement(measurement).SetTime(at).AddTag(tagID, i.opts.ID).AddTag(tagOp, t.op)
	if t.endpoint != "" {
		p.AddTag(tagEndpoint, t.endpoint)
	}
	for name, value := range i.opts.Tags {
		p.AddTag(name, value)
	}
	return p.SortTags().
		AddField("requests", integer(t.Requests)).
		AddField("objects", integer(t.Objects)).
		AddField("bytes_total", integer(t.Bytes)).
		AddField("errors", integer(t.Errors)).
		AddField("request_total_secs", t.Time.Sum.Seconds()).
		AddField("request_ttfb_total_secs", t.TTFB.Sum.Seconds()).
		AddField("request_wire_total_secs", t.Wire.Sum.Seconds()).
		AddField("request_client_total_secs", t.Client.Sum.Seconds())
}

// integer returns a number as a signed integer, since InfluxDB refuses another type of a field
// that exists.
func integer(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func (i *influx) summary(t *total, at time.Time) *write.Point {
	return i.point("warp_run_summary", t, at).
		AddField("request_avg_secs", t.Time.Mean()/1e9).
		AddField("request_max_secs", t.Time.Max.Seconds()).
		AddField("request_min_secs", t.Time.Min.Seconds()).
		AddField("request_ttfb_avg_secs", t.TTFB.Mean()/1e9).
		AddField("request_ttfb_max_secs", t.TTFB.Max.Seconds()).
		AddField("request_ttfb_min_secs", t.TTFB.Min.Seconds())
}
