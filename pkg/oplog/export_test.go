package oplog

const (
	Columns         = columns
	ClientColumn    = clientColumn
	StatementColumn = statementColumn
	AtStart         = atStart
	MaxMarkText     = maxMarkText
)

var MoveByReserving = moveByReserving

// DisableFastRows makes the reader parse every row without fastRow.
func (r *Reader) DisableFastRows() { r.layout = otherLayout }

// FastRows returns the number of rows that fastRow has read.
func (r *Reader) FastRows() int { return r.fast }
