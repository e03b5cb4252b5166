package s3mem

import (
	"crypto/md5"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// appendTo answers PUT with an offset, as S3 Express defines it: the offset must be the size of the object. As there,
// the ETag is not an MD5.
func (e *Embedded) appendTo(w http.ResponseWriter, r *http.Request, size int64) error {
	offset, err := strconv.ParseInt(r.Header.Get(writeOffsetHeader), 10, 64)
	if err != nil {
		return err
	}
	name, key := split(r)
	bk, err := e.backend.bucket(name)
	if err != nil {
		return err
	}
	body, sum, err := readBody(r.Body, size)
	if err != nil {
		return err
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	if bk.versioned {
		return &refusal{http.StatusNotImplemented, "NotImplemented", "The embedded store does not append in buckets with versions."}
	}
	old := bk.objects.get(key)
	if old == nil {
		old = &object{key: strings.Clone(key), meta: keptMeta(first(r.Header))}
	}
	if offset != old.size {
		return &refusal{http.StatusBadRequest, "InvalidWriteOffset", "The write offset is not the size of the object."}
	}
	o := *old
	// Only the newest object of this name has room behind its parts: copies are clipped.
	o.parts, o.size, o.nParts, o.modified = append(old.parts, body), old.size+size, old.nParts+1, time.Now()
	o.md5 = md5.Sum(append(old.md5[:], sum[:]...))
	e.mem.used.Add(o.footprint())
	if replaced := bk.objects.set(&o); replaced != nil {
		e.mem.used.Add(-replaced.footprint())
	}
	w.Header().Set("Etag", o.etag())
	w.Header().Set("X-Amz-Object-Size", strconv.FormatInt(o.size, 10))
	return nil
}
