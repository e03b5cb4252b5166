package sink

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// An exposition makes metrics from counts whenever they are scraped.
type exposition struct {
	clients func() []ClientCounts

	requests, failures, bytes, objects, inFlight, duration, ttfb, wire, client *prometheus.Desc
}

func newExposition(benchmark string, clients func() []ClientCounts) *exposition {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append(labels, "client"), prometheus.Labels{"benchmark": benchmark})
	}
	return &exposition{
		clients:  clients,
		requests: desc("warp_requests_total", "Finished requests, failed ones included.", "op", "endpoint"),
		failures: desc("warp_request_errors_total", "Failed requests.", "op", "endpoint", "code"),
		bytes:    desc("warp_payload_bytes_total", "Payload bytes of requests that succeeded.", "op", "endpoint"),
		objects:  desc("warp_objects_total", "Objects of requests that succeeded.", "op", "endpoint"),
		inFlight: desc("warp_requests_in_flight", "Requests under way, as of once a second.", "op"),
		duration: desc("warp_request_duration_seconds", "Time from start to end of requests that succeeded.", "op", "endpoint"),
		ttfb:     desc("warp_request_ttfb_seconds", "Time to first byte of requests that succeeded.", "op", "endpoint"),
		wire:     desc("warp_request_wire_seconds", "Time without the client's part of requests that succeeded, where it is known.", "op", "endpoint"),
		client:   desc("warp_request_client_seconds_total", "The client's part of the time of the same requests.", "op", "endpoint"),
	}
}

// Describe sends the descriptions of the metrics.
func (e *exposition) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{e.requests, e.failures, e.bytes, e.objects, e.inFlight, e.duration, e.ttfb, e.wire, e.client} {
		out <- d
	}
}

// Collect sends the metrics.
func (e *exposition) Collect(out chan<- prometheus.Metric) {
	for _, c := range e.clients() {
		for i := range c.series {
			e.collect(&c.series[i], c.Client, out)
		}
		for _, f := range c.failures {
			out <- number(e.failures, prometheus.CounterValue, f.requests, f.op, f.endpoint, f.code, c.Client)
		}
		for _, f := range c.inFlight {
			out <- number(e.inFlight, prometheus.GaugeValue, f.requests, f.op, c.Client)
		}
	}
}

func (e *exposition) collect(s *series, client string, out chan<- prometheus.Metric) {
	labels := []string{s.op, s.endpoint, client}
	out <- number(e.requests, prometheus.CounterValue, s.Requests, labels...)
	out <- number(e.bytes, prometheus.CounterValue, s.Bytes, labels...)
	out <- number(e.objects, prometheus.CounterValue, s.Objects, labels...)
	out <- times(e.duration, &s.duration, s.Time.Sum, labels)
	out <- times(e.ttfb, &s.ttfb, s.TTFB.Sum, labels)
	out <- times(e.wire, &s.wire, s.Wire.Sum, labels)
	out <- prometheus.MustNewConstMetric(e.client, prometheus.CounterValue, s.Client.Sum.Seconds(), labels...)
}

// number and times cannot fail, because the labels are valid text and as many as the description
// has.
func number(d *prometheus.Desc, kind prometheus.ValueType, n uint64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, kind, float64(n), labels...)
}

func times(d *prometheus.Desc, h *histogram, sum time.Duration, labels []string) prometheus.Metric {
	total, below := uint64(0), make(map[float64]uint64, latencyBuckets)
	for i, n := range h {
		total += n
		if i < latencyBuckets {
			below[(minBucket << i).Seconds()] = total
		}
	}
	return prometheus.MustNewConstHistogram(d, total, sum.Seconds(), below, labels...)
}
