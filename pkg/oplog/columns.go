package oplog

// columns is the first line of a log: the documented columns in their order,
// then ours. Readers that know only the documented ones find them by name.
const columns = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\t" +
	"start\tfirst_byte\tlast_byte\tend\tduration_ns\tcat\t" +
	"sched\tstatus\tretries\tphases_ns\trequests" + clientColumn

// clientColumn is the latest of our columns. Logs of earlier versions lack it.
const clientColumn = "\tclient_ns"

// statementColumn follows in logs of scripts only, to keep other logs short.
const statementColumn = "\tstatement"

// checkColumns follow in logs of warp consistency only.
const checkColumns = "\tproperty\toutcome\tcondition\ttoken_sent\ttoken_received"

// A column is the meaning of a field, whatever its place in the row.
type column uint8

const (
	colUnknown column = iota
	colNumber
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
	colClientTime
	colStatement
	colProperty
	colOutcome
	colCondition
	colTokenSent
	colTokenReceived
	numColumns
)

// columnNames are the names in the first line of a log.
var columnNames = [numColumns]string{
	colNumber:     "idx",
	colThread:     "thread",
	colOp:         "op",
	colClient:     "client_id",
	colObjects:    "n_objects",
	colBytes:      "bytes",
	colEndpoint:   "endpoint",
	colKey:        "file",
	colErr:        "error",
	colStart:      "start",
	colFirstByte:  "first_byte",
	colLastByte:   "last_byte",
	colEnd:        "end",
	colDuration:   "duration_ns",
	colCategory:   "cat",
	colDue:        "sched",
	colStatus:     "status",
	colRetries:    "retries",
	colPhases:     "phases_ns",
	colRequests:   "requests",
	colClientTime: "client_ns",
	colStatement:  "statement",

	colProperty:      "property",
	colOutcome:       "outcome",
	colCondition:     "condition",
	colTokenSent:     "token_sent",
	colTokenReceived: "token_received",
}

// essential are the columns that every log must have, in addition to end or duration_ns.
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

// MaxThread is the highest thread number that fits the documented columns.
const MaxThread = 1<<16 - 1
