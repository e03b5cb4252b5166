package lean

import (
	"context"

	"warp/pkg/store"
)

// PutPart uploads a part. It signs as Put does, except that minio-go never signs a part as a
// whole.
func (e *Engine) PutPart(ctx context.Context, p store.PutPart, tr *store.Trace) (store.Part, error) {
	if p.Size <= 0 || p.Number < 1 || p.ID == "" || !takes(&p.Ref) {
		return store.Part{}, store.ErrUnsupported
	}
	q := request{method: "PUT", ref: store.Ref{Bucket: p.Bucket, Key: p.Key}, body: p.Body, size: p.Size, part: true,
		fields: e.fields.part, md5: e.md5, trailer: e.trailer != "", checksums: e.trailer != ""}
	q.paramNumber("partNumber", p.Number)
	q.param("uploadId", p.ID)
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return store.Part{Number: p.Number, Size: p.Size}, err
	}
	if c.head.Status != 200 {
		return store.Part{Number: p.Number, Size: p.Size}, e.refused(ctx, c, &q, tr)
	}
	if _, err = c.receiveBody(tr, q.method, sink{}); err != nil {
		return store.Part{Number: p.Number, Size: p.Size}, e.failed(ctx, c, err, tr)
	}
	part := store.Part{Number: p.Number, ETag: c.etagString(tr), Size: p.Size}
	if sum := c.head.Sum(e.trailer); sum != "" {
		part.Checksums = map[string]string{e.trailer: sum}
	}
	c.release()
	return part, nil
}
