package gcs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
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
	if e.ignoreMissing && err.Code == codeNoKey {
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
	var body bytes.Buffer
	for i := range refs {
		if !validKey(refs[i].Key) {
			return badName(refs[i].Key)
		}
		e.appendDeletion(&body, i+1, &refs[i])
	}
	fmt.Fprintf(&body, "--%s--\r\n", boundary)
	q := e.begin(http.MethodPost, batchPath)
	defer q.End()
	q.Document("multipart/mixed; boundary="+boundary, body.Bytes())
	r, err := e.send(ctx, q, "", tr)
	if err != nil {
		return err
	}
	return e.readDeletions(r, refs)
}

// appendDeletion appends a request to a batch.
func (e *Engine) appendDeletion(body *bytes.Buffer, id int, ref *store.Ref) {
	q := e.begin(http.MethodDelete, apiPath)
	defer q.End()
	q.object(ref.Bucket, ref.Key)
	q.generation(ref.VersionID)
	target, _ := q.Target()
	fmt.Fprintf(body, "--%s\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <warp+%d>\r\n\r\nDELETE %s HTTP/1.1\r\n\r\n\r\n", boundary, id, target)
}

// readDeletions reads the answer to each request of a batch. It matches them by Content-ID or,
// without one, by position.
func (e *Engine) readDeletions(r *httpclient.Reply, refs []store.Ref) error {
	kind, params, err := mime.ParseMediaType(r.ContentType())
	if err != nil || kind != "multipart/mixed" {
		return store.BadAnswer(r.Status, "the answer to a batch is %.60q", r.ContentType())
	}
	answered := make([]bool, len(refs))
	var first *store.Error
	bad, n := 0, 0
	parts := multipart.NewReader(bytes.NewReader(r.Document()), params["boundary"])
	for ; ; n++ {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return store.BadAnswer(r.Status, "the answer to a batch: %s", store.OneLine(err.Error()))
		}
		i := n
		if id := contentID(part.Header.Get("Content-Id")); id > 0 {
			i = id - 1
		}
		if i >= len(refs) || answered[i] {
			return store.BadAnswer(r.Status, "the answer to a batch of %d has an answer %d that nobody asked for", len(refs), i+1)
		}
		answered[i] = true
		resp, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err != nil {
			return store.BadAnswer(r.Status, "the answer %d of a batch: %s", i+1, store.OneLine(err.Error()))
		}
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		resp.Body.Close()
		refused := e.deletion(resp.StatusCode, text, refs[i].Key)
		if refused == nil {
			continue
		}
		if bad++; first == nil {
			first = refused
		}
	}
	switch {
	case bad == len(refs) && bad > 0:
		return first
	case bad > 0:
		return store.Errorf(first.Code, first.Status, "%d of %d objects not deleted; first: %s", bad, len(refs), first.Message)
	case n != len(refs):
		return store.BadAnswer(r.Status, "the store confirmed %d of %d deletions", n, len(refs))
	}
	return nil
}

// contentID returns the number in an answer's <response-warp+7>, or 0 if there is none.
func contentID(text string) int {
	_, number, ok := strings.Cut(strings.TrimSuffix(text, ">"), "warp+")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 {
		return 0
	}
	return n
}
