package consistency

import (
	"strconv"
	"strings"
)

// A Token identifies one write: no two writes of a run have the same.
type Token struct {
	Client  int    // number of the client in the fleet
	Thread  int    // of the client
	Number  uint64 // of the thread's write
	Version uint64 // of the object, as its writer counts; the value of a counter
}

// String returns the token as bodies and op logs have it, such as 0-3-17:42.
func (t Token) String() string {
	b := strconv.AppendInt(nil, int64(t.Client), 10)
	b = strconv.AppendInt(append(b, '-'), int64(t.Thread), 10)
	b = strconv.AppendUint(append(b, '-'), t.Number, 10)
	b = strconv.AppendUint(append(b, ':'), t.Version, 10)
	return string(b)
}

// ParseToken undoes [Token.String].
func ParseToken(text string) (t Token, ok bool) {
	writer, version, ok := strings.Cut(text, ":")
	parts := strings.Split(writer, "-")
	if !ok || len(parts) != 3 {
		return t, false
	}
	var errs [4]error
	t.Client, errs[0] = strconv.Atoi(parts[0])
	t.Thread, errs[1] = strconv.Atoi(parts[1])
	t.Number, errs[2] = strconv.ParseUint(parts[2], 10, 64)
	t.Version, errs[3] = strconv.ParseUint(version, 10, 64)
	return t, errs == [4]error{} && t.Client >= 0 && t.Thread >= 0
}
