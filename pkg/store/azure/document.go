package azure

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"warp/pkg/store"
	"warp/pkg/store/s3/xmlscan"
)

const xmlHead = `<?xml version="1.0" encoding="utf-8"?>`

// appendTags appends the document that sets tags.
func appendTags(dst []byte, tags map[string]string) []byte {
	dst = append(dst, xmlHead+"<Tags><TagSet>"...)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		dst = xmlscan.AppendText(append(dst, "<Tag><Key>"...), key)
		dst = xmlscan.AppendText(append(dst, "</Key><Value>"...), tags[key])
		dst = append(dst, "</Value></Tag>"...)
	}
	return append(dst, "</TagSet></Tags>"...)
}

func readTags(document []byte, status int) (map[string]string, error) {
	tags := make(map[string]string)
	var key string
	err := scan(document, status, "Tags", func(x *xmlscan.Scanner) error {
		switch string(x.Name) {
		case "Key":
			key = string(x.Text)
		case "Value":
			tags[key] = string(x.Text)
		}
		return nil
	})
	return tags, err
}

// scan calls do at the end of each element of a document with that root element.
func scan(document []byte, status int, root string, do func(x *xmlscan.Scanner) error) error {
	var x xmlscan.Scanner
	x.Scan(bytes.TrimPrefix(document, []byte("\ufeff")))
	for first := true; ; first = false {
		kind, err := x.Next()
		switch {
		case err != nil:
			return badDocument(err, status)
		case first && string(x.Name) != root:
			return store.BadAnswer(status, "the answer is a document <%.40s> instead of <%s>", x.Name, root)
		case kind == xmlscan.Done:
			return nil
		case kind == xmlscan.End:
			if err := do(&x); err != nil {
				return badDocument(err, status)
			}
		}
	}
}

func badDocument(err error, status int) error {
	if e, ok := err.(*store.Error); ok {
		e.Status = status
		return e
	}
	return store.BadAnswer(status, "%s", store.OneLine(err.Error()))
}

// A page is one page of a listing.
type page struct {
	entries []entry
	next    string
	memory  store.Document // to be freed after use
}

// An entry is a blob of a page, or a common prefix.
type entry struct {
	store.Object
	blobType string
	hasMD5   bool
}

const entrySize = int(unsafe.Sizeof(entry{}))

// readPage reads a page of a listing. It counts the memory of the entries, and of their text.
func readPage(document []byte, status int, l *store.List, memory *store.Document) (p page, err error) {
	if err := memory.Grow(len(document), status); err != nil {
		return p, err
	}
	var e entry
	err = scan(document, status, "EnumerationResults", func(x *xmlscan.Scanner) error {
		switch string(x.Name) {
		case "Name":
			if parent := string(x.Parent()); parent == "Blob" || parent == "BlobPrefix" {
				e.Key = string(x.Text)
			}
		case "VersionId":
			if l.Versions {
				e.VersionID = string(x.Text)
			}
		case "Etag":
			e.ETag = string(bytes.Trim(x.Text, `"`))
		case "Content-Length":
			if e.Size, err = strconv.ParseInt(string(x.Text), 10, 64); err != nil || e.Size < 0 {
				return store.BadAnswer(status, "the size of blob %.60q is %.40q", e.Key, x.Text)
			}
		case "Last-Modified":
			if e.LastModified, err = time.Parse(time.RFC1123, string(x.Text)); err != nil {
				return store.BadAnswer(status, "blob %.60q was modified at %.40q", e.Key, x.Text)
			}
		case "Content-MD5":
			e.hasMD5 = len(x.Text) > 0
		case "BlobType":
			e.blobType = string(x.Text)
		case "Blob", "BlobPrefix":
			if e.Key == "" {
				return store.BadAnswer(status, "the listing has a blob without a name")
			}
			e.Bucket, e.IsPrefix = l.Bucket, string(x.Name) == "BlobPrefix"
			if len(p.entries) == cap(p.entries) {
				more := len(p.entries)/4 + 256
				if err := memory.Grow(more*entrySize, status); err != nil {
					return err
				}
				p.entries = append(make([]entry, 0, len(p.entries)+more), p.entries...)
			}
			p.entries = append(p.entries, e)
			e = entry{}
		case "NextMarker":
			p.next = string(x.Text)
		default:
			e.HasMetadata = e.HasMetadata || string(x.Parent()) == "Metadata"
		}
		return nil
	})
	return p, err
}

// A blockInfo is an uncommitted block.
type blockInfo struct {
	id   string
	size int64
}

// readBlocks reads the uncommitted blocks of a blob.
func readBlocks(document []byte, status int) (blocks []blockInfo, err error) {
	var b blockInfo
	err = scan(document, status, "BlockList", func(x *xmlscan.Scanner) error {
		switch string(x.Name) {
		case "Name":
			b.id = string(x.Text)
		case "Size":
			if b.size, err = strconv.ParseInt(string(x.Text), 10, 64); err != nil || b.size < 0 {
				return store.BadAnswer(status, "the size of a block is %.40q", x.Text)
			}
		case "Block":
			if string(x.Parent()) == "UncommittedBlocks" {
				blocks = append(blocks, b)
			}
		}
		return nil
	})
	return blocks, err
}
