package gcs

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// Delete removes one object, or many with as few requests as possible.
func (e *Engine) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	if len(refs) == 1 {
		return e.deleteOne(ctx, &refs[0], store.Condition{}, tr)
	}
	for batch := range slices.Chunk(refs, maxBatch) {
		if err := e.deleteBatch(ctx, batch, tr); err != nil {
			return err
		}
	}
	return nil
}

// lenient returns the engine for which a missing object counts as deleted.
func (e *Engine) lenient() *Engine {
	own := *e
	own.ignoreMissing = true
	return &own
}

// deletion returns the error in the answer to a deletion.
func (e *Engine) deletion(status int, document []byte, key string) *store.Error {
	if status/100 == 2 {
		return nil
	}
	err := refusal(status, document, key)
	if e.ignoreMissing && err.Code == store.CodeNoKey {
		return nil
	}
	return err
}

// DeleteIf deletes one object if the condition holds.
func (e *Engine) DeleteIf(ctx context.Context, ref store.Ref, c store.Condition, tr *store.Trace) error {
	if c.Absent {
		return store.ErrUnsupported
	}
	return e.deleteOne(ctx, &ref, c, tr)
}

func (e *Engine) deleteOne(ctx context.Context, ref *store.Ref, c store.Condition, tr *store.Trace) error {
	if !validKey(ref.Key) {
		return badName(ref.Key)
	}
	q := e.begin(http.MethodDelete, apiPath)
	defer q.End()
	q.object(ref.Bucket, ref.Key)
	q.generation(ref.VersionID)
	q.condition(c)
	r, err := e.client.Do(ctx, q.Request, tr)
	if err != nil {
		return err
	}
	if err := e.deletion(r.Status, r.Document(), ref.Key); err != nil {
		return err
	}
	return nil
}

// maxBatch is the max number of requests in a batch.
const maxBatch = 100

// batchPath is the endpoint for batches of requests of the JSON API.
const batchPath = "/batch/storage/v1"

// deleteBatch deletes up to a batch of refs.
func (e *Engine) deleteBatch(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	var batch httpclient.Batch
	for i := range refs {
		if !validKey(refs[i].Key) {
			return badName(refs[i].Key)
		}
		batch.Add(fmt.Sprintf("<warp+%d>", i+1), e.deletionHead(&refs[i]))
	}
	q := e.begin(http.MethodPost, batchPath)
	defer q.End()
	q.Batch(&batch)
	r, err := e.send(ctx, q, "", tr)
	if err != nil {
		return err
	}
	return r.Deletions(len(refs), answerIndex, func(i int, a *http.Response, document []byte) *store.Error {
		return e.deletion(a.StatusCode, document, refs[i].Key)
	})
}

// deletionHead returns a request of a batch.
func (e *Engine) deletionHead(ref *store.Ref) []byte {
	q := e.begin(http.MethodDelete, apiPath)
	defer q.End()
	q.object(ref.Bucket, ref.Key)
	q.generation(ref.VersionID)
	target, _ := q.Target()
	return fmt.Appendf(nil, "DELETE %s HTTP/1.1\r\n\r\n", target)
}

// answerIndex returns the number of the request that the answer with the number n belongs to, from
// its Content-ID <response-warp+7> or, without one, from its position.
func answerIndex(id string, n int) int {
	_, number, ok := strings.Cut(strings.TrimSuffix(id, ">"), "warp+")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 1 {
		return n
	}
	return i - 1
}
