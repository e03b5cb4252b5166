package s3mem

import (
	"encoding/xml"
	"io"
	"net/http"
)

// answer corrects the headers of gofakes3's answers at the moment they are sent.
type answer struct {
	http.ResponseWriter
	sent   bool
	status int
}

func (a *answer) finish() {
	if a.sent {
		return
	}
	a.sent = true
	h := a.Header()
	if etag := h[etagHeader]; etag != nil {
		h["Etag"] = etag
		delete(h, etagHeader)
	}
	delete(h, "Access-Control-Allow-Origin")
	delete(h, "X-Amz-Id-2")
}

func (a *answer) WriteHeader(status int) {
	if a.sent {
		return // an error after the answer has begun; net/http would complain on the user's terminal
	}
	a.finish()
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	a.finish()
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
