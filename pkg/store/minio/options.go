package minio

import (
	"crypto/md5"
	"encoding/base64"
	"hash"
	"io"
	"net/http"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// serverSide returns the encryption in minio-go's form; nil for none.
func serverSide(e *store.Encryption) (encrypt.ServerSide, error) {
	switch e.Kind {
	case store.SSEC:
		return encrypt.NewSSEC(e.Key[:])
	case store.SSES3:
		return encrypt.NewSSE(), nil
	case store.SSEKMS:
		return encrypt.NewSSEKMS(e.KeyID, nil)
	}
	return nil, nil
}

func bucketLookup(lookup string) minio.BucketLookupType {
	switch lookup {
	case store.LookupHost:
		return minio.BucketLookupDNS
	case store.LookupPath:
		return minio.BucketLookupPath
	}
	return minio.BucketLookupAuto
}

// values returns the attributes of the object called name, with prefix before each key; nil for
// none.
func values(attributes []store.Attribute, prefix, name string) map[string]string {
	if len(attributes) == 0 {
		return nil
	}
	all := make(map[string]string, len(attributes))
	for i := range attributes {
		all[prefix+attributes[i].Key] = string(attributes[i].AppendValue(nil, name))
	}
	return all
}

// putOptions returns the options of an upload, in one request or in parts.
func (e *Engine) putOptions(p *store.Put) minio.PutObjectOptions {
	o := &e.opts
	return minio.PutObjectOptions{
		ContentType:          p.ContentType,
		PartSize:             e.part,
		DisableContentSha256: e.unsigned,
		DisableMultipart:     o.DisableMultipart || p.Whole,
		SendContentMd5:       o.MD5,
		Checksum:             e.checksum,
		StorageClass:         o.StorageClass,
		UserMetadata:         values(o.Metadata, s3.MetadataPrefix, p.Key),
		UserTags:             values(o.Tags, "", p.Key),
		ServerSideEncryption: e.sse,
	}
}

// readEncryption returns the key for requests that read an object, or nil if the store has the key.
func (e *Engine) readEncryption() encrypt.ServerSide {
	if e.sse != nil && e.sse.Type() == encrypt.SSEC {
		return e.sse
	}
	return nil
}

// copyHeaders returns the headers of a copy: the keys to read the source and to write the copy,
// and the storage class.
func (e *Engine) copyHeaders(part bool) map[string]string {
	h := make(http.Header)
	if key := e.readEncryption(); key != nil {
		encrypt.SSECopy(key).Marshal(h)
		key.Marshal(h)
	} else if e.sse != nil && !part {
		e.sse.Marshal(h)
	}
	if e.opts.StorageClass != "" && !part {
		h.Set("X-Amz-Storage-Class", e.opts.StorageClass)
	}
	all := make(map[string]string, len(h))
	for name := range h {
		all[name] = h.Get(name)
	}
	return all
}

// announceChecksum sets the type of checksum of a multipart upload.
func (e *Engine) announceChecksum(opts *minio.PutObjectOptions) {
	if !e.checksum.IsSet() {
		return
	}
	if opts.UserMetadata == nil {
		opts.UserMetadata = make(map[string]string, 2)
	}
	opts.UserMetadata[s3.ChecksumAlgorithmHeader] = e.checksum.String()
	if e.checksum.FullObjectRequested() {
		opts.UserMetadata[s3.ChecksumTypeHeader] = s3.FullObject
	}
}

// checksumOfNothing sets the checksum of an empty upload in its head. An empty payload has no
// trailer, and minio-go omits the checksum.
func (e *Engine) checksumOfNothing(opts *minio.PutObjectOptions) {
	if !e.checksum.IsSet() {
		return
	}
	if opts.UserMetadata == nil {
		opts.UserMetadata = make(map[string]string, 1)
	}
	opts.UserMetadata[e.checksum.Key()] = e.checksum.EncodeToString(nil)
}

// partOptions returns the options of a part, and the reader to send.
func (e *Engine) partOptions(body store.Body, size int64) (opts minio.PutObjectPartOptions, read io.Reader, err error) {
	opts = minio.PutObjectPartOptions{DisableContentSha256: e.unsigned, SSE: e.readEncryption()}
	if size == 0 && !e.unsigned { // see signsWhole
		opts.DisableContentSha256, opts.Sha256Hex = true, s3.EmptyPayload
	}
	if e.opts.MD5 {
		if opts.Md5Base64, err = contentMD5(body); err != nil {
			return opts, nil, err
		}
	}
	if !e.checksum.IsSet() {
		return opts, body, nil
	}
	if size == 0 {
		opts.CustomHeader = http.Header{e.checksum.KeyCapitalized(): {e.checksum.EncodeToString(nil)}}
		return opts, body, nil
	}
	// As in minio-go, the checksum follows the payload.
	opts.Trailer = http.Header{e.checksum.KeyCapitalized(): {e.checksum.EncodeToString(nil)}}
	return opts, &trailedBody{Reader: body, sum: e.checksum.Hasher(), trailer: opts.Trailer, name: e.checksum.KeyCapitalized()}, nil
}

// contentMD5 returns the Content-MD5 of body, which it reads and rewinds.
func contentMD5(body io.ReadSeeker) (string, error) {
	sum := md5.New()
	if _, err := io.Copy(sum, body); err != nil {
		return "", err
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(sum.Sum(nil)), nil
}

// A trailedBody sets a trailer when it has been read.
type trailedBody struct {
	io.Reader
	sum     hash.Hash
	trailer http.Header
	name    string
}

func (b *trailedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.sum.Write(p[:n])
	if err == io.EOF {
		b.trailer.Set(b.name, base64.StdEncoding.EncodeToString(b.sum.Sum(nil)))
	}
	return n, err
}

// checksumsOf returns the checksums of a part, by header name.
func (e *Engine) checksumsOf(part *minio.ObjectPart) map[string]string {
	if !e.checksum.IsSet() {
		return nil
	}
	value := map[minio.ChecksumType]string{
		minio.ChecksumCRC32: part.ChecksumCRC32, minio.ChecksumCRC32C: part.ChecksumCRC32C,
		minio.ChecksumSHA1: part.ChecksumSHA1, minio.ChecksumSHA256: part.ChecksumSHA256,
		minio.ChecksumCRC64NVME: part.ChecksumCRC64NVME, minio.ChecksumMD5: part.ChecksumMD5,
		minio.ChecksumSHA512: part.ChecksumSHA512, minio.ChecksumXXHash64: part.ChecksumXXHash64,
		minio.ChecksumXXHash3: part.ChecksumXXHash3, minio.ChecksumXXHash128: part.ChecksumXXHash128,
	}[e.checksum.Base()]
	if value == "" {
		return nil
	}
	return map[string]string{e.checksum.Key(): value}
}

// completePart returns a part in the form that completing an upload needs.
func completePart(p *store.Part) minio.CompletePart {
	sum := func(t minio.ChecksumType) string { return p.Checksums[t.Key()] }
	return minio.CompletePart{
		PartNumber: p.Number, ETag: p.ETag,
		ChecksumCRC32: sum(minio.ChecksumCRC32), ChecksumCRC32C: sum(minio.ChecksumCRC32C),
		ChecksumSHA1: sum(minio.ChecksumSHA1), ChecksumSHA256: sum(minio.ChecksumSHA256),
		ChecksumCRC64NVME: sum(minio.ChecksumCRC64NVME), ChecksumMD5: sum(minio.ChecksumMD5),
		ChecksumSHA512: sum(minio.ChecksumSHA512), ChecksumXXHash64: sum(minio.ChecksumXXHash64),
		ChecksumXXHash3: sum(minio.ChecksumXXHash3), ChecksumXXHash128: sum(minio.ChecksumXXHash128),
	}
}

// completeOptions returns the options for completing a multipart upload: the key again, and the
// type of the whole object's checksum.
func (e *Engine) completeOptions() minio.PutObjectOptions {
	opts := minio.PutObjectOptions{ServerSideEncryption: e.readEncryption()}
	if e.checksum.FullObjectRequested() {
		opts.UserMetadata = map[string]string{s3.ChecksumTypeHeader: s3.FullObject}
	}
	return opts
}

// signsWhole reports whether an upload is signed as a whole. With a checksum it is not, because
// minio-go sends checksums only of streamed uploads. An empty upload always is, because otherwise
// the end of the stream would remain after the request.
func (e *Engine) signsWhole(p *store.Put) bool {
	return p.Size <= s3.SignedWhole && !e.unsigned && (p.Size == 0 || !e.checksum.IsSet())
}
