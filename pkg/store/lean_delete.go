package store

import (
	"context"

	"github.com/minio/minio-go/v7"
)

// Delete removes one object by name, or many with one document.
func (e *leanEngine) Delete(ctx context.Context, refs []Ref, tr *Trace) error {
	if len(refs) == 0 {
		return nil
	}
	for i := range refs {
		if !takes(&refs[i]) || len(refs) > 1 && !xmlText(refs[i].Key) {
			return e.fallback.Delete(ctx, refs, tr)
		}
	}
	var err error
	if len(refs) == 1 {
		err = e.deleteOne(ctx, &refs[0], tr)
	} else {
		err = e.deleteBatch(ctx, refs, tr)
	}
	if err == errNotLean {
		return e.fallback.Delete(ctx, refs, tr)
	}
	return err
}

func (e *leanEngine) deleteOne(ctx context.Context, ref *Ref, tr *Trace) error {
	q := leanQuery{method: "DELETE", ref: *ref}
	q.version(ref)
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return err
	}
	if !deleted(c.head.status) {
		return e.refused(ctx, c, &q, tr)
	}
	if _, err = c.receiveBody(tr, q.method, leanSink{}); err != nil {
		return e.failed(ctx, c, err, tr)
	}
	e.release(c)
	return nil
}

func (e *leanEngine) deleteBatch(ctx context.Context, refs []Ref, tr *Trace) error {
	q := leanQuery{method: "POST", ref: Ref{Bucket: refs[0].Bucket}, refs: refs}
	q.param("delete", "")
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return err
	}
	if c.head.status != 200 {
		return e.refused(ctx, c, &q, tr)
	}
	if err = c.receiveDocument(tr); err != nil {
		return e.failed(ctx, c, err, tr)
	}
	d := deletions{refs: refs}
	if err = c.readDeletions(&d); err != nil {
		return e.failed(ctx, c, err, tr)
	}
	e.release(c)
	return d.err(tr)
}

// postDelete sends the list of what is to be deleted.
func (c *leanConn) postDelete(q *leanQuery, tr *Trace) error {
	b := append(c.room(0), "<Delete><Quiet>false</Quiet>"...)
	for i := range q.refs {
		r := &q.refs[i]
		b = append(appendXML(append(b, "<Object><Key>"...), r.Key), "</Key>"...)
		if r.VersionID != "" {
			b = append(appendXML(append(b, "<VersionId>"...), r.VersionID), "</VersionId>"...)
		}
		b = append(b, "</Object>"...)
	}
	b = append(b, "</Delete>"...)
	q.payloadHash, q.contentLength = "", int64(len(b))
	c.signer.hash(b)
	c.signer.hashMD5(b)
	c.buildHead(q)
	if len(c.out) < leanHeadRoom+len(b) { // it did not fit behind the head's room
		copy(c.room(len(b)), b)
	}
	tr.sending()
	b, err := c.withHead(b)
	if err != nil {
		return err
	}
	return c.sendAndAwait(b, tr, false)
}

// receiveDocument receives an answer's body into c.kept.
func (c *leanConn) receiveDocument(tr *Trace) error {
	_, err := c.receiveBody(tr, "GET", leanSink{keep: leanDocumentMost})
	if err == nil && c.cut {
		err = badAnswer(c.head.status, "the answer's document is longer than %d bytes", leanDocumentMost)
	}
	return err
}

// readDeletions reads the results of a batch, object by object.
func (c *leanConn) readDeletions(d *deletions) error {
	x := &c.scanner
	x.scan(c.kept)
	var key, code, message []byte // copies: the scanner's text does not last
	for {
		kind, err := x.next()
		switch {
		case err != nil:
			return err
		case kind == xmlOver:
			return nil
		case kind == xmlStart && x.depth == 1 && string(x.name) != "DeleteResult":
			return c.wrongDocument("the results of a deletion")
		case kind == xmlStart && x.depth == 2:
			key, code, message = key[:0], code[:0], message[:0]
		case kind == xmlStop && x.depth == 3 && string(x.name) == "Key":
			key = append(key, x.text...)
		case kind == xmlStop && x.depth == 3 && string(x.name) == "Code":
			code = append(code, x.text...)
		case kind == xmlStop && x.depth == 3 && string(x.name) == "Message":
			message = append(message, x.text...)
		case kind == xmlStop && x.depth == 2 && string(x.name) == "Deleted":
			if err := d.confirmed(key, c.head.status); err != nil {
				return err
			}
		case kind == xmlStop && x.depth == 2 && string(x.name) == "Error":
			d.failed(fromResponse(minio.ErrorResponse{Code: string(code), Message: string(message)}, c.head.status))
		}
	}
}

// wrongDocument says that a document with status 200 is not what was asked
// for. Some stores send an error so, when they had begun to answer before they
// knew of it.
func (c *leanConn) wrongDocument(want string) error {
	if string(c.scanner.name) == "Error" {
		return fromResponse(refusal(&c.head, c.kept, ""), c.head.status)
	}
	return badAnswer(c.head.status, "the answer is a document <%.40s> instead of %s", c.scanner.name, want)
}
