package page

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// packed is a value as JSON, compressed.
func packed(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return compressed(rounded(text)), nil
}

// compressed is what a script element can hold whatever the text is.
func compressed(text []byte) string {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
	_, _ = z.Write(text)                                  // into memory
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// rounded shortens the fractions of a JSON document; most of their digits say
// nothing, and cannot be compressed.
func rounded(text []byte) []byte {
	short := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			short = append(short, text[i:end+1]...)
			i = end + 1
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(text) && bytes.IndexByte([]byte("0123456789+-.eE"), text[end]) >= 0 {
				end++
			}
			number := text[i:end]
			if v, err := strconv.ParseFloat(string(number), 64); err == nil && bytes.ContainsAny(number, ".e") {
				number = strconv.AppendFloat(nil, v, 'g', svg.Digits, 64)
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

// embedded is a report as it is in a page: without the segments of hosts and
// the heat maps, which are by far most of a report of many hosts, and are drawn.
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
