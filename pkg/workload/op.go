package workload

import "slices"

// An Op is a kind of request. Profiles have no other names, because names in a log may be secrets.
type Op string

// The kinds of requests.
const (
	Get        Op = "GET"     // download of an object, or of a range of it
	Stat       Op = "STAT"    // HEAD of an object
	Put        Op = "PUT"     // upload in one request, also by a form
	PutPart    Op = "PUTPART" // of an upload in parts
	Upload     Op = "UPLOAD"  // upload in parts as a whole
	Append     Op = "APPEND"  // upload that adds to an object
	Copy       Op = "COPY"    // copy within the store
	CopyPart   Op = "COPYPART"
	Delete     Op = "DELETE"
	List       Op = "LIST"
	GetTags    Op = "GETTAGS"
	PutTags    Op = "PUTTAGS"
	DeleteTags Op = "DELETETAGS"
	Retention  Op = "RETENTION"
	Other      Op = "OTHER" // anything else
)

// ops returns all kinds of requests.
func ops() []Op {
	return []Op{Get, Stat, Put, PutPart, Upload, Append, Copy, CopyPart, Delete, List, GetTags, PutTags, DeleteTags, Retention, Other}
}

// Known reports whether a profile may have the operation.
func (o Op) Known() bool { return slices.Contains(ops(), o) }
