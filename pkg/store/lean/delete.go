package lean

import (
	"context"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
	"warp/pkg/store/s3"
	"warp/pkg/store/s3/xmlscan"
)

// Delete removes one object by name, or many with one document.
func (e *Engine) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	if len(refs) == 0 {
		return nil
	}
	for i := range refs {
		if !takes(&refs[i]) || len(refs) > 1 && !xmlscan.ValidText(refs[i].Key) {
			return store.ErrUnsupported
		}
	}
	if len(refs) == 1 {
		return e.deleteOne(ctx, &refs[0], tr)
	}
	return e.deleteBatch(ctx, refs, tr)
}

func (e *Engine) deleteOne(ctx context.Context, ref *store.Ref, tr *store.Trace) error {
	q := request{method: "DELETE", ref: *ref}
	q.version(ref)
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return err
	}
	if !s3.Deleted(c.head.Status) {
		return e.refused(ctx, c, &q, tr)
	}
	if _, err = c.receiveBody(tr, q.method, sink{}); err != nil {
		return e.failed(ctx, c, err, tr)
	}
	c.release()
	return nil
}

func (e *Engine) deleteBatch(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	q := request{method: "POST", ref: store.Ref{Bucket: refs[0].Bucket}, refs: refs}
	q.param("delete", "")
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return err
	}
	if c.head.Status != 200 {
		return e.refused(ctx, c, &q, tr)
	}
	if err = c.receiveDocument(tr); err != nil {
		return e.failed(ctx, c, err, tr)
	}
	d := s3.Deletions{Refs: refs}
	if err = c.readDeletions(&d); err != nil {
		return e.failed(ctx, c, err, tr)
	}
	c.release()
	return d.Err(tr)
}

// postDelete sends the list of objects to delete.
func (c *conn) postDelete(q *request, tr *store.Trace) error {
	b := append(c.payloadRoom(0), "<Delete><Quiet>false</Quiet>"...)
	for i := range q.refs {
		r := &q.refs[i]
		b = append(xmlscan.AppendText(append(b, "<Object><Key>"...), r.Key), "</Key>"...)
		if r.VersionID != "" {
			b = append(xmlscan.AppendText(append(b, "<VersionId>"...), r.VersionID), "</VersionId>"...)
		}
		b = append(b, "</Object>"...)
	}
	b = append(b, "</Delete>"...)
	q.payloadHash, q.contentLength = "", int64(len(b))
	c.signer.hash(b)
	c.signer.hashMD5(b)
	c.buildHead(q)
	if len(c.out) < headRoom+len(b) { // it did not fit after the space for the head
		copy(c.payloadRoom(len(b)), b)
	}
	tr.Sending()
	b, err := c.withHead(b)
	if err != nil {
		return err
	}
	return c.sendAndAwait(b, tr, false)
}

// receiveDocument receives an answer's body into c.kept.
func (c *conn) receiveDocument(tr *store.Trace) error {
	_, err := c.receiveBody(tr, "GET", sink{keep: maxDocument})
	if err == nil && c.cut {
		err = store.BadAnswer(c.head.Status, "the answer's document is longer than %d bytes", maxDocument)
	}
	return err
}

// readDeletions reads the results of a batch, object by object.
func (c *conn) readDeletions(d *s3.Deletions) error {
	x := &c.scanner
	x.Scan(c.kept)
	var key, code, message []byte // copies, because the scanner reuses its text
	for {
		kind, err := x.Next()
		switch {
		case err != nil:
			return err
		case kind == xmlscan.Done:
			return nil
		case kind == xmlscan.Start && x.Depth == 1 && string(x.Name) != "DeleteResult":
			return c.wrongDocument("the results of a deletion")
		case kind == xmlscan.Start && x.Depth == 2:
			key, code, message = key[:0], code[:0], message[:0]
		case kind == xmlscan.End && x.Depth == 3 && string(x.Name) == "Key":
			key = append(key, x.Text...)
		case kind == xmlscan.End && x.Depth == 3 && string(x.Name) == "Code":
			code = append(code, x.Text...)
		case kind == xmlscan.End && x.Depth == 3 && string(x.Name) == "Message":
			message = append(message, x.Text...)
		case kind == xmlscan.End && x.Depth == 2 && string(x.Name) == "Deleted":
			if err := d.Confirm(key, c.head.Status); err != nil {
				return err
			}
		case kind == xmlscan.End && x.Depth == 2 && string(x.Name) == "Error":
			d.Fail(s3.ResponseError(minio.ErrorResponse{Code: string(code), Message: string(message)}, c.head.Status))
		}
	}
}

// wrongDocument returns the error of a document that came with status 200 but was not asked for.
// Some stores send an error this way if it occurs after they have begun to answer.
func (c *conn) wrongDocument(want string) error {
	if string(c.scanner.Name) == "Error" {
		return s3.ResponseError(refusal(&c.head, c.kept, ""), c.head.Status)
	}
	return store.BadAnswer(c.head.Status, "the answer is a document <%.40s> instead of %s", c.scanner.Name, want)
}
