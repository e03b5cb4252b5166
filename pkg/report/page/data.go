package page

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// digits is the number of digits of a fraction. Percentiles have no more.
const digits = 4

// packed returns a value as compressed JSON.
func packed(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return compressed(rounded(text)), nil
}

// compressed returns text in a form that a script element can contain.
func compressed(text []byte) string {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                  // writing to memory cannot fail
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// rounded shortens the fractions in a JSON document. Most of their digits mean nothing, and they do
// not compress.
func rounded(text []byte) []byte {
	short := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := i + printer.StringEnd(text[i:])
			short = append(short, text[i:end]...)
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(text) && bytes.IndexByte([]byte("0123456789+-.eE"), text[end]) >= 0 {
				end++
			}
			number := text[i:end]
			if v, err := strconv.ParseFloat(string(number), 64); err == nil && bytes.ContainsAny(number, ".e") {
				number = strconv.AppendFloat(nil, v, 'g', digits, 64)
			}
			short = append(short, number...)
			i = end
		default:
			short = append(short, c)
			i++
		}
	}
	return short
}

// embedded returns the report to embed in a page. It omits the segments of hosts and the heat maps,
// which are nearly all of a report with many hosts, and which are drawn.
func embedded(r *results.Report) *results.Report {
	c := *r
	c.Operations = slices.Clone(r.Operations)
	for i := range c.Operations {
		op := &c.Operations[i]
		op.HeatMap = nil
		op.Hosts = slices.Clone(op.Hosts)
		for k := range op.Hosts {
			op.Hosts[k].Segments = nil
		}
	}
	return &c
}
