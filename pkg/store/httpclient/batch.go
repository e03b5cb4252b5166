package httpclient

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"warp/pkg/store"
)

// A Batch is a document of several requests, as the APIs of Azure and Google define it: a
// multipart/mixed document whose parts are the requests. The answer has the same form.
type Batch struct{ document []byte }

const (
	// batchBoundary separates the requests of a batch. It is long enough for no name to contain it by
	// chance.
	batchBoundary = "batch_warp-5c8f4a1de0b74e2f9f0f3a6f2f1d7c55"
	// maxBatchError limits how much of the document of an answer is read. Only errors have one.
	maxBatchError = 4 << 10
)

// Add adds a request without a body. head is its request line and its headers, with an empty line at
// the end; id is the Content-ID of its answer.
func (b *Batch) Add(id string, head []byte) {
	b.document = fmt.Appendf(b.document,
		"--%s\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: %s\r\n\r\n%s\r\n", batchBoundary, id, head)
}

// Batch makes a batch the body.
func (r *Request) Batch(b *Batch) {
	r.Document("multipart/mixed; boundary="+batchBoundary, fmt.Appendf(b.document, "--%s--\r\n", batchBoundary))
}

// Deletions reads the answer to a batch of size deletions and returns the error of the whole batch.
// index returns the number of the request that an answer belongs to, by its Content-ID and its own
// number; -1 = it is not clear. refusal returns the error in the answer to a request; nil = the object
// is deleted.
func (r *Reply) Deletions(size int, index func(id string, n int) int, refusal func(i int, a *http.Response, document []byte) *store.Error) error {
	kind, params, err := mime.ParseMediaType(r.ContentType())
	if err != nil || kind != "multipart/mixed" {
		return store.BadAnswer(r.Status, "the answer to a batch is %.60q", r.ContentType())
	}
	answered := make([]bool, size)
	var first *store.Error
	refused, n := 0, 0
	for parts := multipart.NewReader(bytes.NewReader(r.Document()), params["boundary"]); ; n++ {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return store.BadAnswer(r.Status, "the answer to a batch: %s", store.OneLine(err.Error()))
		}
		a, document, err := readBatchAnswer(part)
		if err != nil {
			return store.BadAnswer(r.Status, "the answer %d of a batch: %s", n+1, store.OneLine(err.Error()))
		}
		id := strings.TrimSpace(part.Header.Get("Content-Id"))
		i := index(id, n)
		if i < 0 && id == "" { // it may be about the whole batch
			if err := refusal(i, a, document); err != nil {
				return err
			}
		}
		if i < 0 || i >= size || answered[i] {
			return store.BadAnswer(r.Status, "the answer to a batch of %d has an answer %d (%.20q) that nobody asked for", size, n+1, id)
		}
		answered[i] = true
		if err := refusal(i, a, document); err != nil {
			if refused++; first == nil {
				first = err
			}
		}
	}
	switch {
	case refused == size && refused > 0:
		return first
	case refused > 0:
		return store.Errorf(first.Code, first.Status, "%d of %d objects not deleted; first: %s", refused, size, first.Message)
	case n != size:
		return store.BadAnswer(r.Status, "the store confirmed %d of %d deletions", n, size)
	}
	return nil
}

// readBatchAnswer reads the answer to one request of a batch.
func readBatchAnswer(part io.Reader) (a *http.Response, document []byte, err error) {
	end := strings.NewReader("\r\n\r\n") // ends a head that lacks the empty line
	if a, err = http.ReadResponse(bufio.NewReader(io.MultiReader(part, end)), nil); err != nil {
		return nil, nil, err
	}
	document, _ = io.ReadAll(io.LimitReader(a.Body, maxBatchError)) // an error that is cut off has its code in the head or its beginning
	a.Body.Close()
	return a, document, nil
}
