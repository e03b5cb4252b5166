package s3mem

import (
	"encoding/xml"
	"io"
	"net/http"
)

// answer corrects the headers of gofakes3's answers at the moment they are sent, and checks If-Match of downloads, which
// gofakes3 ignores: only the answer itself tells which version it has.
type answer struct {
	http.ResponseWriter
	request *http.Request
	// matches reports whether an ETag meets If-Match; nil = no condition. "" means the current version's.
	matches func(etag string) bool
	sent    bool
	refused bool // If-Match does not hold: what gofakes3 writes is dropped
	status  int
}

// finish sends an answer that has no payload.
func (a *answer) finish() {
	if !a.sent {
		a.begin(http.StatusOK)
	}
}

// begin corrects the headers of an answer that is about to be sent.
func (a *answer) begin(status int) {
	a.sent, a.status = true, status
	h := a.Header()
	if etag := h[etagHeader]; etag != nil {
		h["Etag"] = etag
		delete(h, etagHeader)
	}
	delete(h, "Access-Control-Allow-Origin")
	delete(h, "X-Amz-Id-2")
	if a.unmet(status, h.Get("Etag")) {
		a.refused, a.status = true, http.StatusPreconditionFailed
		clear(h) // it describes the object
		writeError(a.ResponseWriter, a.request, a.status, "PreconditionFailed", "The object's ETag is another one.")
	}
}

// unmet reports whether If-Match does not hold. It comes before the range: a 416 may be about another version.
func (a *answer) unmet(status int, etag string) bool {
	if a.matches == nil || etag == "" && status != http.StatusRequestedRangeNotSatisfiable {
		return false
	}
	return !a.matches(etag)
}

func (a *answer) WriteHeader(status int) {
	if a.sent {
		return // an error after the answer has begun; net/http would complain on the user's terminal
	}
	if a.begin(status); !a.refused {
		a.ResponseWriter.WriteHeader(status)
	}
}

func (a *answer) Write(p []byte) (int, error) {
	if a.finish(); a.refused {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

// writeError answers with an S3 error. It first reads the body of the request, because a client
// that is still sending when the connection closes sees a broken connection instead of the reason.
func writeError(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	body, _ := xml.Marshal(struct {
		XMLName  xml.Name `xml:"Error"`
		Code     string
		Message  string
		Resource string
	}{Code: code, Message: message, Resource: r.URL.Path})
	w.Write(append([]byte(xml.Header), body...))
}
