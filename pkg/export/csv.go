package export

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"warp/pkg/oplog"
)

// CSV writes rows as comma-separated values, RFC 4180: the columns of an op log, without
// its comments.
type CSV struct {
	rows    int64
	text    oplog.Text
	line    []byte
	columns []string
	cells   []string
	to      *csv.Writer
}

// NewCSV writes the line that names the columns. If scripted is set, they are the
// columns of a script's log.
func NewCSV(w io.Writer, scripted bool) (*CSV, error) {
	c := &CSV{to: csv.NewWriter(w)}
	if scripted {
		c.text = oplog.ScriptText()
	}
	c.columns = slices.Clone(c.split(c.text.AppendColumns(nil)))
	return c, c.to.Write(c.columns)
}

// Rows is how many rows were written.
func (c *CSV) Rows() int64 { return c.rows }

// Write writes a row. One that ended before it began took no time.
func (c *CSV) Write(r *oplog.Record) error {
	numbers := *r // texts are quoted in another way in a log
	numbers.Op, numbers.Client, numbers.Endpoint, numbers.Key, numbers.Err = "", "", "", "", ""
	numbers.Duration = max(r.Duration, 0)
	c.line = c.text.AppendRow(c.line[:0], &numbers)
	cells := c.split(c.line)
	for i, name := range c.columns {
		switch name {
		case "op":
			cells[i] = r.Op
		case "client_id":
			cells[i] = r.Client
		case "endpoint":
			cells[i] = r.Endpoint
		case "file":
			cells[i] = r.Key
		case "error":
			cells[i] = r.Err
		}
	}
	c.rows++
	return c.to.Write(cells)
}

// split cuts a line of a log that has no quoted texts.
func (c *CSV) split(line []byte) []string {
	c.cells = c.cells[:0]
	for cell := range strings.SplitSeq(strings.TrimSuffix(string(line), "\n"), "\t") {
		c.cells = append(c.cells, cell)
	}
	return c.cells
}

// Flush writes what is left.
func (c *CSV) Flush() error {
	c.to.Flush()
	return c.to.Error()
}
