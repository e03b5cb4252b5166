package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"warp/internal/human"
)

// maxReport limits the size of a saved report. A report of hours and many hosts has some tens of
// MiB.
const maxReport = 256 << 20

var reportBegin = regexp.MustCompile(`^\s*\{\s*"version"\s*:`)

// IsReport reports whether the next bytes look like one of warp's own documents.
func IsReport(r *bufio.Reader) bool {
	begin, _ := r.Peek(64)
	return reportBegin.Match(begin)
}

// Read reads a report that was saved as JSON.
func Read(r io.Reader) (*Report, error) {
	limited := &io.LimitedReader{R: r, N: maxReport + 1}
	d := json.NewDecoder(limited)
	report := &Report{}
	err := d.Decode(report)
	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("the report is larger than %s", human.Bytes(maxReport))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the report is cut off")
	case report.Version != 0 && report.Version != 2 || err == nil && report.Groups == nil:
		return nil, errors.New("this JSON document is not a report of a run, or its version is unknown to this warp")
	case err != nil:
		return nil, fmt.Errorf("not a report of warp, or a damaged one: %w", err)
	case d.More():
		return nil, errors.New("there is more after the report; save each in a file of its own")
	case len(report.Operations) == 0:
		return nil, errors.New("the report has no operations")
	}
	for i := range report.Operations {
		if g := report.Operations[i].Group; g < 0 || g >= len(report.Groups) {
			return nil, errors.New("the report is damaged: an operation belongs to no group")
		}
	}
	report.Warnings = append([]string{}, report.Warnings...)
	return report, nil
}

// maxHosts is the max number of hosts in a compact report.
const maxHosts = 16

// Compact returns the report without the parts that grow with the length of the run and the number
// of clients. For most runs it takes a few KiB as JSON. It still contains everything that runs are
// compared by.
func (r *Report) Compact() *Report {
	c := *r
	c.Operations = slices.Clone(r.Operations)
	for i := range c.Operations {
		o := &c.Operations[i]
		o.Segments, o.ByClient, o.FirstErrors, o.SizeClasses = []Segment{}, []Part{}, nil, nil
		o.HeatMap, o.Slowest, o.DurationHDR, o.ResponseHDR = nil, []SlowRequest{}, "", ""
		o.Timeline, o.Pieces = nil, nil
		o.WarmUp.FirstErrors, o.Late.FirstErrors = nil, nil
		if o.Hosts = slices.Clone(o.Hosts); len(o.Hosts) > maxHosts {
			o.Hosts = []Part{}
		}
		for k := range o.Hosts {
			o.Hosts[k].Segments, o.Hosts[k].Throughput, o.Hosts[k].HTTPPhases = nil, nil, nil
		}
	}
	return &c
}
