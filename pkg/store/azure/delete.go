package azure

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// Delete removes one blob, or many with as few requests as possible.
func (e *Engine) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	if len(refs) == 1 {
		return e.deleteOne(ctx, &refs[0], tr)
	}
	for batch := range slices.Chunk(refs, maxBatch) {
		if err := e.deleteBatch(ctx, batch, tr); err != nil {
			return err
		}
	}
	return nil
}

// isCurrent reports whether a version was not deleted because it is the current one.
func isCurrent(err error) bool { return store.CodeOf(err) == "OperationNotAllowedOnRootBlob" }

func ignoreGone(err error, gone bool) error {
	if gone && store.CodeOf(err) == store.CodeNoKey {
		return nil
	}
	return err
}

// deleteOne deletes a blob or a version. To delete the current version, it first deletes the blob,
// which turns it into an earlier version.
func (e *Engine) deleteOne(ctx context.Context, ref *store.Ref, tr *store.Trace) error {
	err := e.deleteOnce(ctx, ref, store.Condition{}, tr)
	if isCurrent(err) {
		if err = ignoreGone(e.deleteOnce(ctx, &store.Ref{Bucket: ref.Bucket, Key: ref.Key}, store.Condition{}, tr), true); err == nil {
			err = e.deleteOnce(ctx, ref, store.Condition{}, tr)
		}
	}
	return ignoreGone(err, e.ignoreMissing)
}

// DeleteIf deletes one blob or file if the condition holds.
func (h *host) DeleteIf(ctx context.Context, ref store.Ref, c store.Condition, tr *store.Trace) error {
	if c.Absent {
		return store.ErrUnsupported
	}
	return h.deleteOnce(ctx, &ref, c, tr)
}

// deleteOnce sends a delete request.
func (h *host) deleteOnce(ctx context.Context, ref *store.Ref, c store.Condition, tr *store.Trace) error {
	if !validKey(ref.Key) {
		return badName(ref.Key)
	}
	q := h.begin(http.MethodDelete, ref.Bucket, ref.Key)
	defer q.End()
	q.version(ref.VersionID)
	q.condition(c)
	return h.do(ctx, q, tr)
}

// maxBatch is the max number of requests in a batch.
const maxBatch = 256

// deleteBatch deletes up to a batch of refs. Each request in it has its own authorization.
func (e *Engine) deleteBatch(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	if err := e.store.auth.Ready(ctx); err != nil {
		return err
	}
	var batch httpclient.Batch
	var head []byte
	for i := range refs {
		if !validKey(refs[i].Key) {
			return badName(refs[i].Key)
		}
		head = e.appendDeletion(head[:0], &refs[i])
		batch.Add(strconv.Itoa(i), head)
	}
	q := e.begin(http.MethodPost, refs[0].Bucket, "")
	defer q.End()
	q.Param("restype", "container")
	q.Param("comp", "batch")
	q.Batch(&batch)
	r, err := e.send(ctx, q, tr)
	if err != nil {
		return err
	}
	current, err := e.readDeletions(r, refs)
	for i := 0; err == nil && i < len(current); i++ {
		err = e.deleteOne(ctx, &refs[current[i]], tr)
	}
	return err
}

// appendDeletion appends a request of a batch.
func (e *Engine) appendDeletion(dst []byte, ref *store.Ref) []byte {
	q := e.begin(http.MethodDelete, ref.Bucket, ref.Key)
	defer q.End()
	q.version(ref.VersionID)
	e.store.auth.sign(q)
	target, _ := q.Target()
	dst = append(append(append(dst, "DELETE "...), target...), " HTTP/1.1\r\n"...)
	dst = e.store.auth.appendSubrequest(dst, q.Request)
	return append(dst, "Content-Length: 0\r\n\r\n"...)
}

// readDeletions reads the answer to each request of a batch and matches them by Content-ID. It
// returns the refs that were rejected because they are current versions.
func (e *Engine) readDeletions(r *httpclient.Reply, refs []store.Ref) (current []int, err error) {
	index := func(id string, _ int) int {
		i, err := strconv.Atoi(id)
		if err != nil {
			return -1
		}
		return i
	}
	err = r.Deletions(len(refs), index, func(i int, a *http.Response, document []byte) *store.Error {
		if a.StatusCode/100 == 2 {
			return nil
		}
		refused := refusalOf(a.StatusCode, a.Header.Get("x-ms-error-code"), document)
		switch {
		case e.ignoreMissing && refused.Code == store.CodeNoKey:
			return nil
		case isCurrent(refused) && i >= 0:
			current = append(current, i)
			return nil
		}
		return refused
	})
	return current, err
}
