package report

import (
	"encoding/json"
	"io"

	"warp/pkg/aggregate"
)

// JSON renders the report as one JSON document.
func JSON(w io.Writer, r *aggregate.Report) error { return writeJSON(w, r) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
