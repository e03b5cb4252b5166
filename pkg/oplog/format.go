package oplog

import (
	"time"

	"warp/pkg/oplog/field"
)

// A rowFormatter formats records as lines.
type rowFormatter struct {
	index    uint64
	scripted bool // there is a column for the statements of a script
	checked  bool // there are columns for checks
	time     field.TimeFormatter
}

func (f *rowFormatter) appendColumns(b []byte) []byte {
	b = append(b, columns...)
	if f.scripted {
		b = append(b, statementColumn...)
	}
	if f.checked {
		b = append(b, checkColumns...)
	}
	return append(b, '\n')
}

// append appends the line of the next row.
func (f *rowFormatter) append(b []byte, r *Record) []byte {
	b = field.AppendNumber(b, f.index)
	f.index++
	b = field.AppendNumber(append(b, '\t'), uint64(r.Thread))
	b = field.AppendText(append(b, '\t'), r.Op)
	b = field.AppendText(append(b, '\t'), r.Client)
	b = field.AppendNumber(append(b, '\t'), uint64(r.Objects))
	b = field.AppendNumber(append(b, '\t'), uint64(r.Bytes))
	b = field.AppendText(append(b, '\t'), r.Endpoint)
	b = field.AppendText(append(b, '\t'), r.Key)
	b = field.AppendText(append(b, '\t'), r.Err)
	b = f.time.Append(append(b, '\t'), r.Start)
	b = f.appendOffset(append(b, '\t'), r, r.FirstByte)
	b = f.appendOffset(append(b, '\t'), r, r.LastByte)
	b = f.time.Append(append(b, '\t'), r.End())
	b = field.AppendNumber(append(b, '\t'), uint64(r.Duration))
	b = field.AppendNumber(append(b, '\t'), r.Category)
	if b = append(b, '\t'); r.Due != 0 {
		b = f.time.Append(b, r.Due)
	}
	b = appendCount(append(b, '\t'), r.Status)
	b = field.AppendNumber(append(b, '\t'), uint64(r.Retries))
	b = appendPhases(append(b, '\t'), r.Phases)
	b = appendCount(append(b, '\t'), r.Requests)
	if b = append(b, '\t'); r.ClientTime > 0 {
		b = field.AppendNumber(b, uint64(min(r.ClientTime, r.Duration)))
	}
	if f.scripted {
		b = r.Statement.append(append(b, '\t'))
	}
	if f.checked {
		b = r.Check.append(b)
	}
	return append(b, '\n')
}

// appendOffset appends the time at an offset from the start, unless that was not observed.
func (f *rowFormatter) appendOffset(b []byte, r *Record, offset time.Duration) []byte {
	if offset == 0 {
		return b
	}
	return f.time.Append(b, r.Start+int64(max(offset, 0)))
}

// appendCount appends nothing for 0, which means unknown.
func appendCount(b []byte, n uint16) []byte {
	if n == 0 {
		return b
	}
	return field.AppendNumber(b, uint64(n))
}
