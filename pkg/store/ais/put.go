package ais

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// Put uploads in one request, whatever the size.
func (e *Engine) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	custom, ok := customMetadata(p.Headers)
	if !ok || len(p.Tags) > 0 || p.If.Given() {
		return store.Object{}, store.ErrUnsupported
	}
	r, err := e.toObject(http.MethodPut, &p.Ref)
	if err != nil {
		return store.Object{}, err
	}
	defer r.End()
	r.ContentType, r.Body, r.Size = cmp.Or(p.ContentType, "application/octet-stream"), p.Body, p.Size
	r.Payload, r.Idempotent = true, true
	if r.Headers, err = e.checksum(&p); err != nil {
		return store.Object{}, err
	}
	r.Headers = append(r.Headers, custom...)
	reply, err := e.send(ctx, r, "", tr)
	if err != nil {
		return store.Object{}, err
	}
	return store.Object{Ref: p.Ref, Size: p.Size, ETag: etag(reply, tr)}, nil
}

// customHeader contains one entry of an object's own metadata, as NAME=VALUE.
const customHeader = "ais-custom-md"

// customMetadata returns AIStore's headers for metadata, or false if p has other headers.
func customMetadata(headers []store.Header) (custom []store.Header, ok bool) {
	for _, h := range headers {
		name, ok := strings.CutPrefix(strings.ToLower(h.Name), "x-amz-meta-")
		if !ok {
			return nil, false
		}
		custom = append(custom, store.Header{Name: customHeader, Value: name + "=" + h.Value})
	}
	return custom, true
}

// A sum is a type of checksum, with its names in AIStore and in warp.
type sum struct {
	name     string
	option   store.Checksum
	stored   string // as in [store.StoredChecksum]
	hash     func() hash.Hash
	computed bool // uploads may carry it
}

// sums are the types of checksums that AIStore and warp both know.
func sums() []sum {
	return []sum{
		{"xxhash2", store.ChecksumXXH64, "XXHASH64", func() hash.Hash { return xxhash.New() }, true},
		{"xxhash", "", "XXHASH64", nil, false}, // another implementation of the same
		{"crc32c", store.ChecksumCRC32C, "CRC32C", func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }, true},
		{"md5", store.ChecksumMD5, "MD5", md5.New, true},
		{"sha256", store.ChecksumSHA256, "SHA256", sha256.New, true},
		{"sha512", store.ChecksumSHA512, "SHA512", sha512.New, true},
	}
}

// checksums returns the checksums that uploads may carry.
func checksums() (all []store.Checksum) {
	for _, s := range sums() {
		if s.computed {
			all = append(all, s.option)
		}
	}
	return all
}

// checksum returns the headers of the checksum in the options. It reads the payload once for them.
func (e *Engine) checksum(p *store.Put) ([]store.Header, error) {
	wanted := e.opts.Checksum
	if wanted == store.NoChecksum && e.opts.MD5 {
		wanted = store.ChecksumMD5
	}
	if wanted == store.NoChecksum {
		return nil, nil
	}
	for _, s := range sums() {
		if s.option != wanted {
			continue
		}
		h := s.hash()
		if _, err := io.Copy(h, io.NewSectionReader(p.Body, 0, p.Size)); err != nil {
			return nil, store.AsError(err, 0)
		}
		return []store.Header{{Name: "ais-checksum-type", Value: s.name}, {Name: "ais-checksum-value", Value: hex.EncodeToString(h.Sum(nil))}}, nil
	}
	return nil, store.Errorf("RequestFailed", 0, "AIStore does not support checksum %s", wanted)
}

// storedChecksum returns the checksum of the content in an answer.
func storedChecksum(reply *httpclient.Reply) store.StoredChecksum {
	kind := reply.Header("ais-checksum-type")
	value, err := hex.DecodeString(reply.Header("ais-checksum-value"))
	if err != nil || len(value) == 0 {
		return store.StoredChecksum{}
	}
	known := store.StoredChecksum{Algorithm: kind, Value: base64.StdEncoding.EncodeToString(value)}
	for _, s := range sums() {
		if s.name == kind {
			known.Algorithm = s.stored
		}
	}
	return known
}
