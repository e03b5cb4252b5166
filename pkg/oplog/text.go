package oplog

// A Text makes of records the text that a log has of them, without its
// comments. The zero value begins a log.
type Text struct{ rows rowFormatter }

// AppendColumns appends the line that names the columns.
func (*Text) AppendColumns(b []byte) []byte {
	return append(append(b, columns...), '\n')
}

// AppendRow appends the next row. It has the next number, even if the caller
// then leaves it out.
func (t *Text) AppendRow(b []byte, r *Record) []byte {
	return t.rows.append(b, r, r.Thread)
}
