package accesslog

import (
	"warp/pkg/oplog"
	"warp/pkg/workload"
)

// rows makes requests of the rows of an op log.
type rows struct {
	ranges      bool // its downloads are ranges
	preparation *oplog.Preparation
}

// ranged reports whether a run downloaded parts of objects.
func ranged(parameters map[string]string) bool {
	if parameters["range"] == "true" {
		return true
	}
	for _, name := range []string{"range-size", "read-length"} {
		if v := parameters[name]; v != "" && v != "0" {
			return true
		}
	}
	return false
}

// request makes a request of a row.
func (x *rows) request(r *oplog.Record) workload.Request {
	q := FromRow(r)
	if r.Due != 0 { // of an open loop, whose load does not depend on how late requests were sent
		q.Start = r.Due
	}
	q.Range = q.Range || x.ranges && q.Op == workload.Get && !q.Step
	q.Before = x.preparation.Has(r)
	return q
}

// FromRow makes a request of a row of an op log.
func FromRow(r *oplog.Record) workload.Request {
	q := workload.Request{Op: opOf(r.Op), Start: r.Start, Bytes: r.Bytes, Status: int(r.Status), Objects: r.Objects, Failed: r.Err != ""}
	if r.Key != "" {
		q.Object = workload.HashObject("", r.Key)
	}
	switch r.Op {
	case "DOWNLOAD":
		q.Step, q.Size = true, r.Bytes
	case "GETPART":
		q.Part, q.Range = true, true
	}
	return q
}

// Completed returns a request for the end of an upload in parts: only then does the object exist. ok is false for other rows.
func Completed(r *oplog.Record) (q workload.Request, ok bool) {
	if r.Op != "UPLOAD" || r.Err != "" || r.Key == "" {
		return q, false
	}
	return workload.Request{Op: workload.Upload, Start: r.End(), Object: workload.HashObject("", r.Key), Step: true}, true
}

// opOf returns the operation of a row.
func opOf(name string) workload.Op {
	switch name {
	case "POST":
		return workload.Put
	case "DOWNLOAD", "GETPART":
		return workload.Get
	}
	if op := workload.Op(name); op.Known() {
		return op
	}
	return workload.Other
}
