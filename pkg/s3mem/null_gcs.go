package s3mem

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// The null store also answers the JSON API of Google Cloud Storage, whose paths begin with one of
// these. It does not answer batches.
const (
	gcsPath       = "/storage/v1/b/"
	gcsUploadPath = "/upload/storage/v1/b/"
)

// gcsAnswer returns the JSON that answers a request, or "" for a download or another API.
func (n *Null) gcsAnswer(req *nullRequest) string {
	path, query, _ := strings.Cut(req.target, "?")
	if strings.HasPrefix(path, gcsUploadPath) {
		return gcsObject(req.length, n.gcsMD5) // whatever was uploaded, as with S3
	}
	rest, ok := strings.CutPrefix(path, gcsPath)
	if !ok || req.method == "DELETE" || strings.Contains(query, "alt=media") {
		return ""
	}
	_, object, below := strings.Cut(rest, "/o")
	switch {
	case !below:
		return `{"kind":"storage#bucket","location":"US"}`
	case object == "":
		return `{"kind":"storage#objects"}`
	}
	return gcsObject(n.opts.Size, n.gcsMD5)
}

// gcsMD5 returns an ETag in base64.
func gcsMD5(etag string) string {
	sum, _ := hex.DecodeString(etag)
	return base64.StdEncoding.EncodeToString(sum)
}

// gcsObject returns an object with the fields that warp asks for.
func gcsObject(size int64, md5 string) string {
	return `{"generation":"1700000000000001","size":"` + strconv.FormatInt(size, 10) + `","md5Hash":"` + md5 +
		`","crc32c":"AAAAAA==","updated":"` + time.Now().UTC().Format(time.RFC3339Nano) + `"}`
}
