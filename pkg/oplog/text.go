package oplog

// A Text makes of records the text that a log has of them, without its
// comments. The zero value begins a log, and so does ScriptText that of a
// script.
type Text struct{ rows rowFormatter }

// ScriptText has the column for the statements of a script.
func ScriptText() Text { return Text{rowFormatter{scripted: true}} }

// AppendColumns appends the line that names the columns.
func (t *Text) AppendColumns(b []byte) []byte { return t.rows.appendColumns(b) }

// AppendRow appends the next row. It has the next number, even if the caller
// then leaves it out.
func (t *Text) AppendRow(b []byte, r *Record) []byte {
	return t.rows.append(b, r)
}
