package azure

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"time"

	"warp/pkg/store"
)

// An upload in parts consists of blocks of the blob, which are committed at its end. The ids of its
// blocks have a common prefix that separates them from other uploads to the same blob. An id
// consists of a mark, the upload's id and the number of the part. The last possible part adds the
// MD5 of its content, because the store shows nothing but ids of blocks before they are committed.
// A first block, which never becomes part of the blob, makes the upload visible before there are
// others.
const (
	blockMark = "warp"
	idSize    = 12
	blockSize = len(blockMark) + idSize + 2 + md5.Size
)

// blockID returns the id of a block, as the store has it.
func blockID(id []byte, number int, sum []byte) string {
	b := make([]byte, 0, blockSize)
	b = binary.BigEndian.AppendUint16(append(append(b, blockMark...), id...), uint16(number))
	b = append(b, sum...)
	return base64.StdEncoding.EncodeToString(append(b, make([]byte, blockSize-len(b))...))
}

// readBlockID parses an id made by blockID. ok is false for blocks of others.
func readBlockID(text string) (id string, number int, sum string, ok bool) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != blockSize || string(b[:len(blockMark)]) != blockMark {
		return "", 0, "", false
	}
	b = b[len(blockMark):]
	return hex.EncodeToString(b[:idSize]), int(binary.BigEndian.Uint16(b[idSize:])), hex.EncodeToString(b[idSize+2:]), true
}

func newID() []byte {
	id := make([]byte, idSize)
	_, _ = rand.Read(id)
	return id
}

func validID(text string) (id []byte, ok bool) {
	id, err := hex.DecodeString(text)
	return id, err == nil && len(id) == idSize
}

func noUpload() error {
	return store.Errorf(store.CodeNoUpload, http.StatusNotFound, "there is no such upload")
}

// StartUpload uploads the first block.
func (e *Engine) StartUpload(ctx context.Context, p store.Put, tr *store.Trace) (store.Upload, error) {
	_, appends, known := readHeaders(p.Headers)
	switch {
	case !validKey(p.Key):
		return store.Upload{}, badName(p.Key)
	case !known || appends:
		return store.Upload{}, store.ErrUnsupported
	}
	id := newID()
	u := store.Upload{Ref: store.Ref{Bucket: p.Bucket, Key: p.Key}, ID: hex.EncodeToString(id)}
	q := e.blockRequest(u.Ref, blockID(id, 0, nil))
	defer q.End()
	q.Document("", []byte{'-'})
	if err := e.do(ctx, q, tr); err != nil {
		return store.Upload{}, err
	}
	e.store.uploads.Store(u.ID, p)
	return u, nil
}

// blockRequest begins a request that uploads a block.
func (e *Engine) blockRequest(ref store.Ref, block string) request {
	q := e.begin(http.MethodPut, ref.Bucket, ref.Key)
	q.Param("comp", "block")
	q.Param("blockid", block)
	return q
}

// PutPart uploads a block.
func (e *Engine) PutPart(ctx context.Context, p store.PutPart, tr *store.Trace) (store.Part, error) {
	part := store.Part{Number: p.Number, Size: p.Size}
	id, ok := validID(p.ID)
	if !ok || p.Number < 1 || p.Number > store.MaxPart {
		return part, noUpload()
	}
	sum, err := partSum(p.Number, p.Body, p.Size)
	if err == nil {
		part.ETag, err = e.putBlock(ctx, p.Ref, blockID(id, p.Number, sum), p.Body, p.Size, tr)
	}
	return part, err
}

// partSum returns the MD5 of the last possible part, and nothing for other parts.
func partSum(number int, body store.Body, size int64) ([]byte, error) {
	if number != store.MaxPart {
		return nil, nil
	}
	sum := md5.New()
	if _, err := io.Copy(sum, io.NewSectionReader(body, 0, size)); err != nil {
		return nil, store.AsError(err, 0)
	}
	return sum.Sum(nil), nil
}

// putBlock uploads a block. It returns the block's MD5 if the answer contains it.
func (e *Engine) putBlock(ctx context.Context, ref store.Ref, block string, body store.Body, size int64, tr *store.Trace) (etag string, err error) {
	q := e.blockRequest(ref, block)
	defer q.End()
	q.Upload(body, size)
	q.Idempotent = true
	if err := e.hash(q, body, size); err != nil {
		return "", err
	}
	r, err := e.send(ctx, q, tr)
	if err != nil {
		return "", err
	}
	sum, err := base64.StdEncoding.DecodeString(r.Header("content-md5"))
	if err != nil || len(sum) == 0 {
		return block, nil
	}
	return hex.EncodeToString(sum), nil
}

// putBlocks uploads block after block and commits them.
func (e *Engine) putBlocks(ctx context.Context, p *store.Put, tr *store.Trace) (store.Object, error) {
	id, size := newID(), e.block()
	var list []string
	for off := int64(0); off < p.Size; off += size {
		block, n := blockID(id, len(list)+1, nil), min(size, p.Size-off)
		if len(list) == maxBlocks {
			return store.Object{}, store.Errorf("RequestFailed", 0, "an upload of %d bytes has more than %d blocks: use a larger --part.size", p.Size, maxBlocks)
		}
		if _, err := e.putBlock(ctx, p.Ref, block, io.NewSectionReader(p.Body, off, n), n, tr); err != nil {
			return store.Object{}, err
		}
		list = append(list, block)
	}
	return e.commit(ctx, p, list, p.If, tr)
}

// maxBlocks is the max number of blocks in a blob.
const maxBlocks = 50_000

// commit makes the blob from blocks.
func (e *Engine) commit(ctx context.Context, p *store.Put, blocks []string, c store.Condition, tr *store.Trace) (store.Object, error) {
	text := []byte(xmlHead + "<BlockList>")
	for _, block := range blocks {
		text = append(append(append(text, "<Uncommitted>"...), block...), "</Uncommitted>"...)
	}
	text = append(text, "</BlockList>"...)
	q := e.begin(http.MethodPut, p.Bucket, p.Key)
	defer q.End()
	q.Param("comp", "blocklist")
	q.xml(text)
	q.Header("x-ms-blob-content-type", cmp.Or(p.ContentType, "application/octet-stream"))
	q.condition(c)
	e.describe(q, p)
	return e.write(ctx, q, p, tr)
}

// CompleteUpload commits the parts. The commit also sets metadata, so only the client that started
// the upload can complete it: no other client knows them.
func (e *Engine) CompleteUpload(ctx context.Context, u store.Upload, parts []store.Part, tr *store.Trace) (store.Object, error) {
	id, ok := validID(u.ID)
	begun, known := e.store.uploads.Load(u.ID)
	if !ok || !known || len(parts) == 0 {
		return store.Object{}, noUpload()
	}
	p := begun.(store.Put)
	p.Ref, p.Size = u.Ref, 0
	blocks := make([]string, len(parts))
	for i, part := range parts {
		var sum []byte
		if part.Number == store.MaxPart {
			sum, _ = hex.DecodeString(part.ETag)
		}
		blocks[i] = blockID(id, part.Number, sum)
		p.Size += part.Size
	}
	o, err := e.commit(ctx, &p, blocks, u.If, tr)
	if store.CodeOf(err) == "InvalidBlockList" {
		return o, store.Errorf(store.CodeNoUpload, http.StatusNotFound, "a part of the upload is missing")
	}
	if err == nil {
		e.store.uploads.Delete(u.ID)
	}
	return o, err
}

// AbortUpload removes the blocks of an upload. The store drops them when the blob is committed with
// other blocks, so AbortUpload creates an empty blob, if there is none, and deletes it. If there is
// a blob, or blocks of another upload, the blocks stay until the store drops them, a week later.
func (e *Engine) AbortUpload(ctx context.Context, u store.Upload, tr *store.Trace) error {
	own, others, err := e.blocksOf(ctx, u, tr)
	switch {
	case err != nil:
		return err
	case len(own) == 0:
		return noUpload()
	}
	e.store.uploads.Delete(u.ID)
	if others {
		return nil
	}
	p := store.Put{Ref: u.Ref}
	empty, err := e.commit(ctx, &p, nil, store.Condition{Absent: true}, tr)
	if e, ok := err.(*store.Error); ok && (e.Status == http.StatusConflict || e.Status == http.StatusPreconditionFailed) {
		return nil // there is already a blob
	}
	if err != nil {
		return err
	}
	if err := e.deleteOnce(ctx, &u.Ref, store.Condition{Is: empty.Token()}, tr); err != nil || empty.VersionID == "" {
		return ignoreGone(err, true)
	}
	return ignoreGone(e.deleteOnce(ctx, &store.Ref{Bucket: u.Bucket, Key: u.Key, VersionID: empty.VersionID}, store.Condition{}, tr), true)
}

// blocksOf returns the blocks of an upload, and whether there are blocks of others.
func (e *Engine) blocksOf(ctx context.Context, u store.Upload, tr *store.Trace) (own []store.Part, others bool, err error) {
	blocks, err := e.uncommitted(ctx, u.Ref, tr)
	if err != nil {
		return nil, false, err
	}
	for _, b := range blocks {
		id, number, sum, ok := readBlockID(b.id)
		if !ok || id != u.ID {
			others = true
			continue
		}
		part := store.Part{Number: number, Size: b.size}
		if number == store.MaxPart {
			part.ETag = sum
		}
		own = append(own, part)
	}
	return own, others, nil
}

// uncommitted returns the uncommitted blocks of a blob.
func (e *Engine) uncommitted(ctx context.Context, ref store.Ref, tr *store.Trace) ([]blockInfo, error) {
	q := e.begin(http.MethodGet, ref.Bucket, ref.Key)
	defer q.End()
	q.Param("comp", "blocklist")
	q.Param("blocklisttype", "uncommitted")
	r, err := e.send(ctx, q, tr)
	if store.CodeOf(err) == store.CodeNoKey {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readBlocks(r.Document(), r.Status)
}

// Uploads calls each for every incomplete upload of a name under prefix.
func (a *Admin) Uploads(ctx context.Context, bucket, prefix string, each func(store.Upload) error) error {
	l := store.List{Bucket: bucket, Prefix: prefix}
	return a.list(ctx, &l, []string{"uncommittedblobs"}, func(found *entry) (bool, error) {
		if found.Size > 0 || found.hasMD5 || found.IsPrefix || found.blobType != "" && found.blobType != "BlockBlob" {
			return true, nil // it has been committed
		}
		blocks, err := a.uncommitted(ctx, found.Ref, store.NewTrace(time.Now()))
		if err != nil {
			return false, err
		}
		var seen []string
		for _, b := range blocks {
			id, _, _, ok := readBlockID(b.id)
			if !ok || slices.Contains(seen, id) {
				continue
			}
			seen = append(seen, id)
			if err := each(store.Upload{Ref: found.Ref, ID: id}); err != nil {
				return false, err
			}
		}
		return true, nil
	}, store.NewTrace(time.Now()))
}

// Parts calls each for every part of an upload, until it returns false.
func (a *Admin) Parts(ctx context.Context, u store.Upload, each func(store.Part) bool) error {
	own, _, err := a.blocksOf(ctx, u, store.NewTrace(time.Now()))
	if err == nil && len(own) == 0 {
		err = noUpload()
	}
	for _, part := range own {
		if err != nil || part.Number > 0 && !each(part) {
			return err
		}
	}
	return err
}
