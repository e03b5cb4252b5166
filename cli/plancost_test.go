package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"warp/cli/session/plan"
)

// The plan of zip counts the upload of the ZIP, and that of copy the requests for parts.
func TestPlannedPartsAndArchives(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		uploads, bytes float64
		requests       []plan.OfKind
	}{
		"zip --files=100 --obj.size=1KiB":                          {1, 100*(1024+152) + 98, []plan.OfKind{{Kind: "GET", Max: 10}}},
		"zip --files=3 --obj.size=10MiB":                           {4, 3*(10<<20+152) + 98, []plan.OfKind{{Kind: "GET", Max: 10}}},
		"copy --objects=2 --obj.size=20MiB":                        {8, 40 << 20, []plan.OfKind{{Kind: "COPY", Max: 10}}},
		"copy --objects=2 --obj.size=12MiB --part.size=5MiB":       {2, 24 << 20, []plan.OfKind{{Kind: "COPY", Max: 20}, {Kind: "COPYPART", Max: 30}}},
		"copy --objects=2 --obj.size=5MiB --part.size=5MiB":        {2, 10 << 20, []plan.OfKind{{Kind: "COPY", Max: 10}}},
		"get --objects=2 --obj.size=12MiB --part.size=5MiB":        {10, 24 << 20, []plan.OfKind{{Kind: "GET", Max: 10}}},
		"multipart-put --parts=3 --part.size=5MiB --max-objects=4": {0, 0, []plan.OfKind{{Kind: "UPLOAD", Max: 8}, {Kind: "PUTPART", Max: 12}}},
	} {
		args := append(strings.Fields(line), "--host=127.0.0.1:1", "--access-key=a", "--secret-key=b", "--rps-limit=1", "--duration=10s", "--dry-run", "--json")
		run := runWarp(t, nil, args...)
		var d struct {
			Cost plan.Cost `json:"cost"`
		}
		if err := json.Unmarshal([]byte(run.out), &d); err != nil {
			t.Errorf("%s: %v: %s", line, err, run.err)
		}
		if c := d.Cost; c.Uploads != want.uploads || c.UploadBytes != want.bytes || !reflect.DeepEqual(c.Requests, want.requests) {
			t.Errorf("%s: %+v, want %+v", line, c, want)
		}
	}
}
