package sink

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/oplog"
)

// maxDatagram is less than an Ethernet frame can carry.
const maxDatagram = 1400

const (
	statsdQueue = 1024            // max number of waiting datagrams
	statsdLast  = 2 * time.Second // for everything that is left at the end
)

// statsD is a recording.Sink that sends metrics in datagrams. They are not answered, so losses on
// the way remain unknown.
type statsD struct {
	conn   net.Conn
	prefix string
	loader bool // metrics have the names of NVIDIA's aisloader
	last   time.Time
	since  totals // since the last flush, over all endpoints
	flying map[string]int
	packet []byte
	buffer *buffer[[]byte]
}

// checkStatsD rejects what the flags of a coordinator would have rejected.
func (d *Destinations) checkStatsD() error {
	if d.StatsD == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(d.StatsD); err != nil {
		return fmt.Errorf("the address of StatsD: %w", err)
	}
	return nil
}

func (d *Destinations) openStatsD(_ context.Context, client string, _ func(string)) (Export, error) {
	if d.StatsD == "" {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	tool := "warp."
	if d.StatsDLoader != "" {
		tool, client = "aisloader.", d.StatsDLoader
	}
	s, err := newStatsD(d.StatsD, tool+metricName(host)+"-"+metricName(client)+".")
	if err != nil {
		return nil, fmt.Errorf("--statsd: %w", err)
	}
	s.loader = d.StatsDLoader != ""
	if !d.StatsDProbe {
		return s, nil
	}
	if err := s.probe(); err != nil {
		s.Close()
		return nil, fmt.Errorf("--statsd: nothing listens at %s (%w); start the receiver, or leave out this check with --statsd-probe=false", d.StatsD, err)
	}
	return s, nil
}

// ProbeStatsD returns an error if it can detect that nothing listens at addr.
func ProbeStatsD(addr string) error {
	s, err := newStatsD(addr, "")
	if err != nil {
		return err
	}
	defer s.Close()
	return s.probe()
}

// newStatsD returns a sink for addr, with a prefix for names. It sends nothing yet.
func newStatsD(addr, prefix string) (*statsD, error) {
	conn, err := net.Dial("udp", addr)
	if err != nil {
		return nil, err
	}
	s := &statsD{conn: conn, prefix: prefix, last: time.Now()}
	s.buffer = newBuffer(statsdQueue, func(packet []byte) error {
		_, err := conn.Write(packet)
		return err
	}).start()
	return s, nil
}

// metricName replaces characters that have a meaning in the protocol or in paths.
func metricName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}

// probe tries to detect that nothing listens: the host may report the datagram as refused.
func (s *statsD) probe() error {
	for range 3 {
		if _, err := s.conn.Write([]byte("\n")); err != nil { // an empty line is not a metric
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// Write counts rows.
func (s *statsD) Write(batch []oplog.Record) error {
	for i := range batch {
		s.since.of(batch[i].Op, "").add(&batch[i])
	}
	return nil
}

// InFlight sets the next values of the gauges of pending requests.
func (s *statsD) InFlight(byOp map[string]int) {
	s.flying = byOp
	for op := range byOp {
		s.since.of(op, "") // none of its requests may have finished yet
	}
}

// Flush sends what was counted since the last time.
func (s *statsD) Flush() error {
	now := time.Now()
	seconds := now.Sub(s.last).Seconds()
	if seconds <= 0 {
		return nil
	}
	s.last = now
	for _, t := range s.since.list {
		s.metrics(t, seconds)
		*t = total{op: t.op} // kept, so that a gauge returns to 0
	}
	s.sendPacket()
	return nil
}

func (s *statsD) metrics(t *total, seconds float64) {
	name := s.prefix + strings.ToLower(metricName(t.op)) + "."
	s.add(name, "count", float64(t.Requests), "c")
	s.add(name, "errors", float64(t.Errors), "c")
	s.add(name, "pending", float64(s.flying[t.op]), "g")
	s.add(name, "throughput", float64(t.Bytes)/seconds, "g")
	if s.loader {
		s.loaderPhases(name, t)
	} else {
		s.parts(name, t)
	}
	if t.Time.N == 0 {
		return
	}
	s.timer(name, "latency", t.Time.Mean()/1e9, int64(t.Time.N))
	s.add(name, "minlatency", 1000*t.Time.Min.Seconds(), "ms")
	s.add(name, "maxlatency", 1000*t.Time.Max.Seconds(), "ms")
}

// parts sends the phases and the parts of the requests' times.
func (s *statsD) parts(name string, t *total) {
	for i, p := range t.phases {
		if p.n > 0 {
			s.timer(name, "latency."+oplog.PhaseNames[i], p.sum.Seconds()/float64(p.n), p.n)
		}
	}
	if t.Wire.N > 0 {
		s.timer(name, "wire", t.Wire.Mean()/1e9, int64(t.Wire.N))
		s.timer(name, "client", t.Client.Mean()/1e9, int64(t.Client.N))
	}
}

// loaderPhases sends the phases under the names that aisloader uses for its target. They include
// the redirect by a proxy, if there is one.
func (s *statsD) loaderPhases(name string, t *total) {
	const dns, connect, tls, send, wait, receive = 0, 1, 2, 3, 4, 5 // indices of oplog.PhaseNames
	n := t.phases[send].n
	if n == 0 {
		return
	}
	for _, l := range []struct {
		metric string
		phases []int
	}{
		{"latency.targetconn", []int{dns, connect, tls}},
		{"latency.targetrequest", []int{send}},
		{"latency.targetresponse", []int{wait}},
		{"latency.target", []int{send, wait}},
		{"latency.posthttp", []int{receive}},
	} {
		var sum time.Duration
		for _, phase := range l.phases {
			sum += t.phases[phase].sum
		}
		s.timer(name, l.metric, sum.Seconds()/float64(n), n)
	}
}

// timer sends the mean of n times. One value represents all of them, and the sample rate says how
// many there are. Receivers that count in integers round down, so it must not represent slightly
// fewer.
func (s *statsD) timer(name, metric string, mean float64, n int64) {
	const little = 1e-6
	s.add(name, metric, 1000*mean, "ms|@"+strconv.FormatFloat(1/(float64(n)+little), 'g', -1, 64))
}

func (s *statsD) add(name, metric string, value float64, kind string) {
	line := name + metric + ":" + strconv.FormatFloat(value, 'f', -1, 64) + "|" + kind + "\n"
	if len(s.packet)+len(line) > maxDatagram {
		s.sendPacket()
	}
	s.packet = append(s.packet, line...)
}

func (s *statsD) sendPacket() {
	if len(s.packet) > 0 {
		s.buffer.offerWhole(s.packet, 1)
		s.packet = nil
	}
}

// Close sends the rest and returns what is known to be lost; "" = nothing.
func (s *statsD) Close() string {
	_ = s.Flush()
	lost, _, err := s.buffer.finish(statsdLast)
	_ = s.conn.Close()
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s did not reach StatsD at %s: %v", human.Plural(lost, "datagram"), s.conn.RemoteAddr(), err)
}
