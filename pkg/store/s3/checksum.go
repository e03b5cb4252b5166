package s3

import (
	"net/http"
	"strings"

	"warp/pkg/store"
)

// StoredChecksum returns the checksum in an answer's headers. A composite one is recognized by its
// type or, if the store sends none, by the number of parts at its end.
func StoredChecksum(h http.Header) store.StoredChecksum {
	for _, t := range store.ChecksumTypes() {
		if v := h.Get(t.Key()); v != "" {
			kind := h.Get("X-Amz-Checksum-Type")
			return store.StoredChecksum{
				Algorithm: t.String(), Value: v,
				Composite: strings.EqualFold(kind, "COMPOSITE") || strings.Contains(v, "-"), // base64 has no "-"
			}
		}
	}
	return store.StoredChecksum{}
}
