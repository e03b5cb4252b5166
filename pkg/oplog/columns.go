package oplog

// columns is the first line of a log: the documented columns in their order,
// then ours. Readers that know only the documented ones find them by name.
const columns = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\t" +
	"start\tfirst_byte\tlast_byte\tend\tduration_ns\tcat\t" +
	"sched\tstatus\tretries\tphases_ns\trequests"

// statementColumn follows in logs of scripts only, so that those of everything
// else stay as short as they are.
const statementColumn = "\tstatement"

// A column says what a field of a row means, wherever the file has put it.
type column uint8

const (
	colUnknown column = iota
	colThread
	colOp
	colClient
	colObjects
	colBytes
	colEndpoint
	colKey
	colErr
	colStart
	colFirstByte
	colLastByte
	colEnd
	colDuration
	colCategory
	colDue
	colStatus
	colRetries
	colPhases
	colRequests
	colStatement
	numColumns
)

// columnNames holds the names that a header line uses. "idx" is not among
// them: it is written, and skipped as unknown when read.
var columnNames = [numColumns]string{
	colThread:    "thread",
	colOp:        "op",
	colClient:    "client_id",
	colObjects:   "n_objects",
	colBytes:     "bytes",
	colEndpoint:  "endpoint",
	colKey:       "file",
	colErr:       "error",
	colStart:     "start",
	colFirstByte: "first_byte",
	colLastByte:  "last_byte",
	colEnd:       "end",
	colDuration:  "duration_ns",
	colCategory:  "cat",
	colDue:       "sched",
	colStatus:    "status",
	colRetries:   "retries",
	colPhases:    "phases_ns",
	colRequests:  "requests",
	colStatement: "statement",
}

// essential are the columns without which no honest number can be computed;
// besides them a log needs end or duration_ns.
var essential = []column{colThread, colOp, colObjects, colBytes, colErr, colStart}

func (c column) String() string { return columnNames[c] }

func columnByName(name string) column {
	for c, n := range columnNames {
		if n == name && n != "" {
			return column(c)
		}
	}
	return colUnknown
}

// MaxThread is the highest thread number that readers of the documented
// columns can hold.
const MaxThread = 1<<16 - 1

// maxLine bounds what one row may take in memory. S3 keys end at 1 KiB, so a
// longer line is damage or an attack.
const maxLine = 1 << 20
