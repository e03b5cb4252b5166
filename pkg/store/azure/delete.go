package azure

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
	if gone && store.CodeOf(err) == codeNoKey {
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

// DeleteIf deletes one blob if the condition holds.
func (e *Engine) DeleteIf(ctx context.Context, ref store.Ref, c store.Condition, tr *store.Trace) error {
	if c.Absent {
		return store.ErrUnsupported
	}
	return e.deleteOnce(ctx, &ref, c, tr)
}

// deleteOnce sends a delete request.
func (e *Engine) deleteOnce(ctx context.Context, ref *store.Ref, c store.Condition, tr *store.Trace) error {
	if !validKey(ref.Key) {
		return badName(ref.Key)
	}
	q := e.begin(http.MethodDelete, ref.Bucket, ref.Key)
	defer q.End()
	q.version(ref.VersionID)
	q.condition(c)
	return e.do(ctx, q, tr)
}

// maxBatch is the max number of requests in a batch.
const maxBatch = 256

// boundary separates the requests of a batch.
const boundary = "batch_warp-5c8f4a1de0b74e2f9f0f3a6f2f1d7c55"

// deleteBatch deletes up to a batch of refs. Each request in it has its own authorization.
func (e *Engine) deleteBatch(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	if err := e.store.auth.Ready(ctx); err != nil {
		return err
	}
	var body, head []byte
	for i := range refs {
		if !validKey(refs[i].Key) {
			return badName(refs[i].Key)
		}
		head = e.appendDeletion(head[:0], &refs[i])
		body = fmt.Appendf(body, "--%s\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: %d\r\n\r\n%s\r\n", boundary, i, head)
	}
	body = fmt.Appendf(body, "--%s--\r\n", boundary)
	q := e.begin(http.MethodPost, refs[0].Bucket, "")
	defer q.End()
	q.Param("restype", "container")
	q.Param("comp", "batch")
	q.Document("multipart/mixed; boundary="+boundary, body)
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

// appendDeletion appends a request to a batch.
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
	kind, params, err := mime.ParseMediaType(r.ContentType())
	if err != nil || kind != "multipart/mixed" {
		return nil, store.BadAnswer(r.Status, "the answer to a batch is %.60q", r.ContentType())
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
			return nil, store.BadAnswer(r.Status, "the answer to a batch: %s", store.OneLine(err.Error()))
		}
		refused, err := readDeletion(part)
		if err != nil {
			return nil, store.BadAnswer(r.Status, "the answer %d of a batch: %s", n+1, store.OneLine(err.Error()))
		}
		id := strings.TrimSpace(part.Header.Get("Content-Id"))
		if id == "" && refused != nil { // it is about the whole batch
			return nil, refused
		}
		i, err := strconv.Atoi(id)
		if err != nil || i < 0 || i >= len(refs) || answered[i] {
			return nil, store.BadAnswer(r.Status, "the answer to a batch of %d has an answer %.20q that nobody asked for", len(refs), id)
		}
		answered[i] = true
		switch {
		case refused == nil, e.ignoreMissing && refused.Code == codeNoKey:
		case isCurrent(refused):
			current = append(current, i)
		default:
			if bad++; first == nil {
				first = refused
			}
		}
	}
	switch {
	case bad == len(refs) && bad > 0:
		return nil, first
	case bad > 0:
		return nil, store.Errorf(first.Code, first.Status, "%d of %d objects not deleted; first: %s", bad, len(refs), first.Message)
	case n != len(refs):
		return nil, store.BadAnswer(r.Status, "the store confirmed %d of %d deletions", n, len(refs))
	}
	return current, nil
}

// readDeletion reads the answer to one request of a batch, which may be an error.
func readDeletion(part io.Reader) (refused *store.Error, err error) {
	end := strings.NewReader("\r\n\r\n") // ends a head that lacks the empty line
	resp, err := http.ReadResponse(bufio.NewReader(io.MultiReader(part, end)), nil)
	if err != nil {
		return nil, err
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return nil, nil
	}
	return refusalOf(resp.StatusCode, resp.Header.Get("x-ms-error-code"), text), nil
}
