package standin

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
)

// A Seen is a request that a stand-in has received.
type Seen struct {
	Method, Host, Path, Query string
	Header                    http.Header
	Body                      int // bytes
}

// A journal has the requests that a stand-in has received, and what was wrong with them.
type journal struct {
	lock     sync.Mutex
	seen     []Seen
	problems []string
}

// note records a request with its body, which can still be read. It returns false if the body did not arrive.
func (j *journal) note(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	j.lock.Lock()
	defer j.lock.Unlock()
	j.seen = append(j.seen, Seen{r.Method, r.Host, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), len(body)})
	return true
}

// blame records what is wrong with a request.
func (j *journal) blame(r *http.Request, err error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.problems = append(j.problems, fmt.Sprintf("%s %s%s: %v", r.Method, r.Host, r.URL, err))
}

// Seen returns the requests so far, and their errors.
func (j *journal) Seen() ([]Seen, []string) {
	j.lock.Lock()
	defer j.lock.Unlock()
	return slices.Clone(j.seen), slices.Clone(j.problems)
}
