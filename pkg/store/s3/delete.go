package s3

import (
	"context"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
	"warp/pkg/store/s3/xmlscan"
)

// Delete removes one object by name, or many with one document.
func (e *Engine) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	if len(refs) == 0 {
		return nil
	}
	for i := range refs {
		if !takes(refs[i].Key) || len(refs) > 1 && !xmlscan.ValidText(refs[i].Key) {
			return store.ErrUnsupported
		}
	}
	if len(refs) == 1 {
		return e.deleteOne(ctx, &refs[0], store.Condition{}, tr)
	}
	return e.deleteBatch(ctx, refs, tr)
}

// DeleteIf deletes one object if the condition holds.
func (e *Engine) DeleteIf(ctx context.Context, ref store.Ref, c store.Condition, tr *store.Trace) error {
	if !takes(ref.Key) || c.Absent {
		return store.ErrUnsupported
	}
	return e.deleteOne(ctx, &ref, c, tr)
}

func (e *Engine) deleteOne(ctx context.Context, ref *store.Ref, c store.Condition, tr *store.Trace) error {
	q := e.begin("DELETE", ref.Bucket, ref.Key)
	defer q.end()
	q.headers = WithCondition(nil, c)
	q.version(ref)
	r, err := e.do(ctx, q, tr)
	if err == nil && !Deleted(r.Status) {
		err = e.refused(r, q)
	}
	return err
}

func (e *Engine) deleteBatch(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	q := e.begin("POST", refs[0].Bucket, "")
	defer q.end()
	q.refs = refs
	q.Param("delete", "")
	r, err := e.do(ctx, q, tr)
	if err != nil {
		return err
	}
	if r.Status != 200 {
		return e.refused(r, q)
	}
	d := Deletions{Refs: refs}
	if err = readDeletions(r, &d); err != nil {
		return store.AsError(err, r.Status)
	}
	return d.Err(tr)
}

// readDeletions reads the results of a batch, object by object.
func readDeletions(r *httpclient.Reply, d *Deletions) error {
	x := &r.State().(*state).scanner
	x.Scan(r.Document())
	var key, code, message []byte // copies, because the scanner reuses its text
	for {
		kind, err := x.Next()
		switch {
		case err != nil:
			return err
		case kind == xmlscan.Done:
			return nil
		case kind == xmlscan.Start && x.Depth == 1 && string(x.Name) != "DeleteResult":
			return wrongDocument(r, "the results of a deletion")
		case kind == xmlscan.Start && x.Depth == 2:
			key, code, message = key[:0], code[:0], message[:0]
		case kind == xmlscan.End && x.Depth == 3 && string(x.Name) == "Key":
			key = append(key, x.Text...)
		case kind == xmlscan.End && x.Depth == 3 && string(x.Name) == "Code":
			code = append(code, x.Text...)
		case kind == xmlscan.End && x.Depth == 3 && string(x.Name) == "Message":
			message = append(message, x.Text...)
		case kind == xmlscan.End && x.Depth == 2 && string(x.Name) == "Deleted":
			if err := d.Confirm(key, r.Status); err != nil {
				return err
			}
		case kind == xmlscan.End && x.Depth == 2 && string(x.Name) == "Error":
			d.Fail(ResponseError(minio.ErrorResponse{Code: string(code), Message: string(message)}, r.Status))
		}
	}
}

// wrongDocument returns the error of a document that came with status 200 but was not asked for.
// Some stores send an error this way if it occurs after they have begun to answer.
func wrongDocument(r *httpclient.Reply, want string) error {
	name := r.State().(*state).scanner.Name
	if string(name) == "Error" {
		return ResponseError(refusal(r.Head(), r.Document(), ""), r.Status)
	}
	return store.BadAnswer(r.Status, "the answer is a document <%.40s> instead of %s", name, want)
}
