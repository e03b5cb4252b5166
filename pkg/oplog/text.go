package oplog

// A Text makes of records the text that a log has of them, without its
// comments. The zero value begins a log, and so does ScriptText that of a
// script.
type Text struct{ rows rowFormatter }

// ScriptText has the column for the statements of a script.
func ScriptText() Text { return Text{rowFormatter{kinds: kindTexts{statements: true}}} }

// AppendColumns appends the line that names the columns.
func (t *Text) AppendColumns(b []byte) []byte {
	b = append(b, columns...)
	if t.rows.kinds.statements {
		b = append(b, statementColumn...)
	}
	return append(b, '\n')
}

// AppendRow appends the next row. It has the next number, even if the caller
// then leaves it out.
func (t *Text) AppendRow(b []byte, r *Record) []byte {
	return t.rows.append(b, r, t.rows.kinds.find(r), r.Thread)
}
