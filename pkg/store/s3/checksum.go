package s3

import (
	"net/http"
	"strings"

	"warp/pkg/store"
)

// StoredChecksum is what an answer's headers say. Composites are told by their
// type or, by stores that do not send one, by the number of parts behind them.
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
