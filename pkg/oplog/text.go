package oplog

// A Text formats records as a log does, without its comments. The zero value
// begins a log; [ScriptText] begins the log of a script.
type Text struct{ rows rowFormatter }

// ScriptText returns a Text with the column for the statements of a script.
func ScriptText() Text { return Text{rowFormatter{scripted: true}} }

// AppendColumns appends the line that names the columns.
func (t *Text) AppendColumns(b []byte) []byte { return t.rows.appendColumns(b) }

// AppendRow appends a row with the next number, which is used up even if the caller
// drops the row.
func (t *Text) AppendRow(b []byte, r *Record) []byte {
	return t.rows.append(b, r)
}
