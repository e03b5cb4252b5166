package aggregate

import (
	"slices"

	"warp/pkg/results"
)

// partsOf returns the operation of the parts of an operation on whole objects, or "".
func partsOf(whole string) string {
	switch whole {
	case "UPLOAD":
		return "PUTPART"
	case "DOWNLOAD":
		return "GETPART"
	}
	return ""
}

// oneObject sets the throughput of a single object, for operations on objects in parts: only the rows of the parts count
// bytes.
func oneObject(ops []results.Operation) {
	for i := range ops {
		whole := &ops[i]
		name := partsOf(whole.Op)
		k := slices.IndexFunc(ops, func(o results.Operation) bool { return name != "" && o.Op == name && o.Statement == whole.Statement })
		if k < 0 || whole.Duration == nil || whole.Duration.Mean == 0 || whole.Requests == 0 {
			continue
		}
		part := &ops[k]
		size := part.ObjectBytes.Mean * float64(part.Requests) / float64(whole.Requests)
		whole.OneObjectBytesPerS = size / (whole.Duration.Mean / 1000)
	}
}
