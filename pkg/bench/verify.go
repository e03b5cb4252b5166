package bench

import (
	"context"
	"encoding/base64"
	"fmt"
	"hash"
	"io"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// A Verify says how closely downloads are checked.
type Verify int

const (
	VerifyETag     Verify = iota // size and ETag must be as uploaded or listed
	VerifyChecksum               // and the content must have the checksum that the store keeps
	VerifyContent                // and every byte must follow from the seed
	VerifyNone                   // nothing is checked beyond HTTP itself
	VerifyStored                 // as VerifyChecksum, of the objects of which the store keeps a checksum
)

// note is what the report says about it; "" = nothing.
func (v Verify) note() string {
	switch v {
	case VerifyChecksum:
		return "the checksum of every download was computed and compared (--verify=checksum): that time and CPU are the client's"
	case VerifyContent:
		return "every byte of every download was compared with what the seed says (--verify=content): that time and CPU are the client's"
	case VerifyNone:
		return "size and ETag of the answers were not looked at (--verify=none)"
	}
	return ""
}

// A verifier checks the downloads of one worker. It allocates no memory.
type verifier struct {
	how     Verify
	content *generator.Comparer
	sum     checksum
}

func newVerifier(how Verify, payload *generator.Payload) *verifier {
	v := &verifier{how: how, content: payload.NewComparer()}
	v.sum.onStored = v.sum.setStored
	return v
}

// request returns get with what the check needs.
func (v *verifier) request(get store.Get) store.Get {
	switch v.how {
	case VerifyContent:
		get.Into = v.content
	case VerifyChecksum, VerifyStored:
		get.Into, get.Checksum = &v.sum, v.sum.onStored
	}
	return get
}

// reset prepares for another attempt. Offset must say where in the object a part
// begins.
func (v *verifier) reset(obj *store.Object, get *store.Get) {
	switch v.how {
	case VerifyContent:
		v.content.Reset(generator.PayloadID(obj.Key), obj.Size, get.Offset)
	case VerifyChecksum, VerifyStored:
		v.sum.setStored(store.StoredChecksum{})
	}
}

// anyLength is the expected length of an object of which only the name is known.
const anyLength = -1

// verdict returns what is wrong with a complete download, nil if nothing.
func (v *verifier) verdict(obj *store.Object, d *store.Download, want int64, tr *store.Trace) error {
	if v.how == VerifyNone {
		return nil
	}
	if want != anyLength && d.Bytes != want {
		return wrongLength(d.Bytes, want, tr)
	}
	switch v.how {
	case VerifyContent:
		// Checked before the ETag, which is often wrong as well and says less.
		if wrong, ok := v.content.Difference(); ok {
			return contentError(store.CodeWrongContent, tr, "the byte at offset %d of %s is 0x%02x instead of 0x%02x", wrong.Offset, obj.Key, wrong.Got, wrong.Want)
		}
	case VerifyChecksum, VerifyStored:
		if v.how == VerifyStored && v.sum.hash == nil {
			break
		}
		if err := v.sum.verdict(obj.Key, tr); err != nil {
			return err
		}
	}
	return checkObject(obj, d.Object, tr)
}

func contentError(code string, tr *store.Trace, format string, args ...any) error {
	return &store.Error{Code: code, Status: int(tr.Status()), Message: fmt.Sprintf(format, args...)}
}

// A checksum computes the checksum that the store keeps.
type checksum struct {
	onStored func(store.StoredChecksum) // setStored, allocated once
	stored   store.StoredChecksum
	hash     hash.Hash // nil if there is nothing to compute
	known    map[string]hash.Hash
	sum      []byte
	text     []byte
}

// setStored chooses the hash. It is called before the payload arrives.
func (c *checksum) setStored(stored store.StoredChecksum) {
	c.stored, c.hash = stored, nil
	if stored.Algorithm == "" || stored.Composite {
		return
	}
	if c.hash = c.known[stored.Algorithm]; c.hash == nil {
		if c.hash = stored.New(); c.hash == nil {
			return
		}
		if c.known == nil {
			c.known = make(map[string]hash.Hash)
		}
		c.known[stored.Algorithm] = c.hash
	}
	c.hash.Reset()
}

func (c *checksum) Write(p []byte) (int, error) {
	if c.hash != nil {
		return c.hash.Write(p)
	}
	return len(p), nil
}

func (c *checksum) verdict(key string, tr *store.Trace) error {
	const toDo = "; upload with --checksum=CRC64NVME, CRC32-FO or CRC32C-FO, or choose another --verify"
	switch {
	case c.stored.Algorithm == "":
		return contentError(store.CodeNoChecksum, tr, "the store keeps no checksum of %s"+toDo, key)
	case c.stored.Composite:
		return contentError(store.CodeNoChecksum, tr, "of %s, which was uploaded in parts, the store keeps a %s of the parts' checksums only"+toDo, key, c.stored.Algorithm)
	case c.hash == nil:
		return contentError(store.CodeNoChecksum, tr, "the checksum that the store keeps of %s is a %s, which warp cannot compute", key, c.stored.Algorithm)
	}
	c.sum = c.hash.Sum(c.sum[:0])
	c.text = base64.StdEncoding.AppendEncode(c.text[:0], c.sum)
	if string(c.text) != c.stored.Value {
		return contentError(store.CodeWrongChecksum, tr, "the %s of what came of %s is %s, the store keeps %s", c.stored.Algorithm, key, c.text, c.stored.Value)
	}
	return nil
}

var _ io.Writer = (*checksum)(nil)

// canVerify checks before the run that an object has a checksum to compare, or else
// each download would fail.
func (w *Worker) canVerify(ctx context.Context, obj *store.Object) error {
	if w.check.how != VerifyChecksum {
		return nil
	}
	silent := w.silent
	w.silent = true
	defer func() { w.silent = silent }()
	err := w.download(ctx, obj, store.Get{Ref: obj.Ref})
	if store.CodeOf(err) == store.CodeNoChecksum {
		return fmt.Errorf("--verify=checksum: %w", err)
	}
	return nil // other errors show in the run
}

// canVerifyFound does the same for objects that were in the bucket before.
func (e *Env) canVerifyFound(ctx context.Context, objects []store.Object) error {
	w := e.workers[0]
	if w.check.how != VerifyContent {
		return w.canVerify(ctx, &objects[0])
	}
	for i := range objects {
		if !generator.MadeBy(e.Seed, objects[i].Key) {
			return fmt.Errorf("--verify=content: %s was not uploaded with --seed=%d, so nobody knows what it should contain; "+
				"name the seed of the run that uploaded it, choose other objects with --prefix, or use another --verify", objects[i].Key, e.Seed)
		}
	}
	return nil
}
