package s3mem

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// An upload is a multipart upload in progress. Its bucket's lock guards it.
type upload struct {
	id    gofakes3.UploadID
	key   string
	meta  []header
	tags  []tag
	begun time.Time
	parts map[int]*object
	// conditions of completing it, which gofakes3 does not pass on
	conditions *gofakes3.PutConditions
}

func (b *backend) CreateMultipartUpload(bucketName, key string, meta map[string]string) (gofakes3.UploadID, error) {
	bk, err := b.bucket(bucketName)
	if err != nil {
		return "", err
	}
	u := &upload{id: gofakes3.UploadID(rand.Text()), key: strings.Clone(key), meta: keptMeta(meta), begun: time.Now(),
		parts: map[int]*object{}}
	if u.tags, err = parseTags(meta[taggingHeader]); err != nil {
		return "", err
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	bk.uploads[u.id] = u
	return u.id, nil
}

// upload finds an upload and locks the bucket; the caller unlocks it.
func (b *backend) upload(bucketName, key string, id gofakes3.UploadID) (*bucket, *upload, error) {
	bk, err := b.bucket(bucketName)
	if err != nil {
		return nil, nil, err
	}
	bk.mu.Lock()
	u := bk.uploads[id]
	if u == nil || u.key != key {
		bk.mu.Unlock()
		return nil, nil, gofakes3.ErrNoSuchUpload
	}
	return bk, u, nil
}

func (b *backend) UploadPart(bucketName, key string, id gofakes3.UploadID, number int, size int64, input io.Reader) (string, error) {
	body, sum, err := readBody(input, size)
	if err != nil {
		return "", err
	}
	part := &object{parts: [][]byte{body}, size: size, md5: sum, modified: time.Now()}
	return part.etag(), b.addPart(bucketName, key, id, number, part)
}

// addPart adds a part to an upload, in the place of an earlier one of that number.
func (b *backend) addPart(bucketName, key string, id gofakes3.UploadID, number int, part *object) error {
	bk, u, err := b.upload(bucketName, key, id)
	if err != nil {
		return err
	}
	defer bk.mu.Unlock()
	b.mem.used.Add(part.footprint())
	if old := u.parts[number]; old != nil {
		b.mem.used.Add(-old.footprint())
	}
	u.parts[number] = part
	return nil
}

func (b *backend) AbortMultipartUpload(bucketName, key string, id gofakes3.UploadID) error {
	bk, u, err := b.upload(bucketName, key, id)
	if err != nil {
		return err
	}
	defer bk.mu.Unlock()
	b.forget(bk, u)
	return nil
}

// forget removes an upload and releases its memory.
func (b *backend) forget(bk *bucket, u *upload) {
	delete(bk.uploads, u.id)
	for _, p := range u.parts {
		b.mem.used.Add(-p.footprint())
	}
}

func (b *backend) CompleteMultipartUpload(bucketName, key string, id gofakes3.UploadID,
	in *gofakes3.CompleteMultipartUploadRequest) (gofakes3.VersionID, string, error) {
	bk, u, err := b.upload(bucketName, key, id)
	if err != nil {
		return "", "", err
	}
	defer bk.mu.Unlock()
	o, err := u.join(in)
	if err != nil {
		return "", "", err
	}
	if err := b.storeLocked(bk, o, u.conditions); err != nil {
		return "", "", err
	}
	b.forget(bk, u)
	return o.version(), o.etag(), nil
}

// completeIf sets the conditions of the request that completes an upload next.
func (b *backend) completeIf(bucketName, key string, id gofakes3.UploadID, conditions *gofakes3.PutConditions) {
	if bk, u, err := b.upload(bucketName, key, id); err == nil {
		u.conditions = conditions
		bk.mu.Unlock()
	}
}

// join makes an object from the parts named in a request. It shares their memory.
func (u *upload) join(in *gofakes3.CompleteMultipartUploadRequest) (*object, error) {
	if len(in.Parts) == 0 {
		return nil, gofakes3.ErrMalformedXML
	}
	o := &object{key: u.key, meta: u.meta, modified: time.Now(), nParts: int32(len(in.Parts)),
		extra: &extra{tags: u.tags}}
	sums := md5.New()
	last := 0
	for _, named := range in.Parts {
		if named.PartNumber <= last {
			return nil, gofakes3.ErrInvalidPartOrder
		}
		last = named.PartNumber
		p := u.parts[named.PartNumber]
		if p == nil || strings.Trim(named.ETag, `"`) != hex.EncodeToString(p.md5[:]) {
			return nil, gofakes3.ErrInvalidPart
		}
		sums.Write(p.md5[:])
		o.parts = append(o.parts, p.parts...)
		o.size += p.size
		o.extra.partEnds = append(o.extra.partEnds, o.size)
	}
	sums.Sum(o.md5[:0])
	return o, nil
}

func (b *backend) ListParts(bucketName, key string, id gofakes3.UploadID, marker int, limit int64) (*gofakes3.ListMultipartUploadPartsResult, error) {
	bk, u, err := b.upload(bucketName, key, id)
	if err != nil {
		return nil, err
	}
	defer bk.mu.Unlock()
	res := &gofakes3.ListMultipartUploadPartsResult{Bucket: bucketName, Key: key, UploadID: id, MaxParts: limit,
		PartNumberMarker: marker, StorageClass: gofakes3.StorageStandard}
	var numbers []int
	for n := range u.parts {
		if n > marker {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		if int64(len(res.Parts)) == limit {
			res.IsTruncated = true
			break
		}
		p := u.parts[n]
		res.Parts = append(res.Parts, gofakes3.ListMultipartUploadPartItem{PartNumber: n, ETag: p.etag(), Size: p.size,
			LastModified: gofakes3.NewContentTime(p.modified)})
		res.NextPartNumberMarker = n
	}
	return res, nil
}

// ListMultipartUploads returns all uploads below a prefix in one page, because a bucket of this
// store has few.
func (b *backend) ListMultipartUploads(bucketName string, marker *gofakes3.UploadListMarker, prefix gofakes3.Prefix, limit int64) (*gofakes3.ListMultipartUploadsResult, error) {
	if prefix.Delimiter != "" || marker != nil {
		return nil, gofakes3.ErrNotImplemented
	}
	bk, err := b.bucket(bucketName)
	if err != nil {
		return nil, err
	}
	bk.mu.RLock()
	defer bk.mu.RUnlock()
	res := &gofakes3.ListMultipartUploadsResult{Bucket: bucketName, Prefix: prefix.Prefix, MaxUploads: limit}
	for _, u := range bk.uploads {
		if strings.HasPrefix(u.key, prefix.Prefix) {
			res.Uploads = append(res.Uploads, gofakes3.ListMultipartUploadItem{Key: u.key, UploadID: u.id,
				StorageClass: gofakes3.StorageStandard, Initiated: gofakes3.NewContentTime(u.begun)})
		}
	}
	sort.Slice(res.Uploads, func(i, j int) bool {
		a, b := res.Uploads[i], res.Uploads[j]
		return a.Key < b.Key || a.Key == b.Key && a.Initiated.Before(b.Initiated.Time)
	})
	return res, nil
}
