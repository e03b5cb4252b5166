package sink

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"warp/pkg/oplog"
)

// mostDatagram keeps a packet below what an Ethernet frame takes.
const mostDatagram = 1400

// StatsD is a bench.Sink that sends metrics in datagrams. Nobody answers those,
// so nothing waits, and what gets lost on the way stays unknown.
type StatsD struct {
	conn   net.Conn
	prefix string
	last   time.Time
	since  totals // since the last flush, over all endpoints
	flying map[string]int
	packet []byte
	errs   int64
	err    error
}

// NewStatsD sends to addr, under warp.<host>-<client>. Nothing is sent yet.
func NewStatsD(addr, host, client string) (*StatsD, error) {
	conn, err := net.Dial("udp", addr)
	if err != nil {
		return nil, err
	}
	return &StatsD{conn: conn, prefix: "warp." + metricName(host) + "-" + metricName(client) + ".", last: time.Now()}, nil
}

// metricName replaces what has a meaning in the protocol or in paths.
func metricName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}

// Probe tells where it can that nobody listens: the datagram comes back as
// refused, if the host is there and says so.
func (s *StatsD) Probe() error {
	for range 3 {
		if _, err := s.conn.Write([]byte("\n")); err != nil { // an empty line is no metric
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// Write counts rows.
func (s *StatsD) Write(batch []oplog.Record) error {
	for i := range batch {
		s.since.of(batch[i].Op, "").add(&batch[i])
	}
	return nil
}

// InFlight notes what the gauges of pending requests say next.
func (s *StatsD) InFlight(byOp map[string]int) {
	s.flying = byOp
	for op := range byOp {
		s.since.of(op, "") // which may have finished none yet
	}
}

// Flush sends what was counted since the last time.
func (s *StatsD) Flush() error {
	now := time.Now()
	seconds := now.Sub(s.last).Seconds()
	if seconds <= 0 {
		return nil
	}
	s.last = now
	for _, t := range s.since.list {
		s.metrics(t, seconds)
		*t = total{op: t.op} // stays, so that a gauge goes back to 0
	}
	s.sendPacket()
	return nil
}

func (s *StatsD) metrics(t *total, seconds float64) {
	name := s.prefix + strings.ToLower(metricName(t.op)) + "."
	s.add(name, "count", float64(t.requests), "c")
	s.add(name, "errors", float64(t.errors), "c")
	s.add(name, "pending", float64(s.flying[t.op]), "g")
	s.add(name, "throughput", float64(t.bytes)/seconds, "g")
	for i, p := range t.phases {
		if p.n > 0 {
			s.timer(name, "latency."+oplog.PhaseNames[i], p.sum.Seconds()/float64(p.n), p.n)
		}
	}
	if t.answered == 0 {
		return
	}
	s.timer(name, "latency", t.time.mean(t.answered), t.answered)
	s.add(name, "minlatency", 1000*t.time.least.Seconds(), "ms")
	s.add(name, "maxlatency", 1000*t.time.most.Seconds(), "ms")
}

// timer sends the mean of n times. One value stands for all of the interval: the sample rate says for how many.
// Receivers that count in whole numbers round down, so that it must not stand for a little less.
func (s *StatsD) timer(name, metric string, mean float64, n int64) {
	const little = 1e-6
	s.add(name, metric, 1000*mean, "ms|@"+strconv.FormatFloat(1/(float64(n)+little), 'g', -1, 64))
}

func (s *StatsD) add(name, metric string, value float64, kind string) {
	line := name + metric + ":" + strconv.FormatFloat(value, 'f', -1, 64) + "|" + kind + "\n"
	if len(s.packet)+len(line) > mostDatagram {
		s.sendPacket()
	}
	s.packet = append(s.packet, line...)
}

func (s *StatsD) sendPacket() {
	if len(s.packet) == 0 {
		return
	}
	if _, err := s.conn.Write(s.packet); err != nil {
		s.errs++
		s.err = err
	}
	s.packet = s.packet[:0]
}

// Close sends the rest and says what is known to be lost; "" = nothing.
func (s *StatsD) Close() string {
	_ = s.Flush()
	_ = s.conn.Close()
	if s.errs == 0 {
		return ""
	}
	return fmt.Sprintf("%d datagrams did not reach StatsD at %s: %v", s.errs, s.conn.RemoteAddr(), s.err)
}
