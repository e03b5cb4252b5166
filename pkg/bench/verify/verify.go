// Package verify checks downloads: their size and ETag, the checksum that the store
// keeps, or every byte.
package verify

import (
	"encoding/base64"
	"hash"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// A Mode says how closely downloads are checked.
type Mode int

// The modes of --verify. Stored is for objects some of which have no checksum.
const (
	ETag     Mode = iota // size and ETag must be as uploaded or listed
	Checksum             // and the content must have the checksum that the store keeps
	Content              // and every byte must follow from the seed
	None                 // nothing is checked beyond HTTP itself
	Stored               // like Checksum, but only where the store keeps one
)

// Note returns a note for the report about the cost of a mode, or "".
func (m Mode) Note() string {
	switch m {
	case Checksum:
		return "the checksum of every download was computed and compared (--verify=checksum): that time and CPU are the client's"
	case Content:
		return "every byte of every download was compared with what the seed says (--verify=content): that time and CPU are the client's"
	case None:
		return "size and ETag of the answers were not checked (--verify=none)"
	}
	return ""
}

// A Verifier checks the downloads of one worker, one after the other. It allocates
// no memory.
type Verifier struct {
	mode    Mode
	content *generator.Comparer
	sum     checksum
}

// New returns a verifier. Content is compared with the payload.
func New(mode Mode, payload *generator.Payload) *Verifier {
	v := &Verifier{mode: mode, content: payload.NewComparer()}
	v.sum.onStored = v.sum.setStored
	return v
}

// Mode returns the mode of the verifier.
func (v *Verifier) Mode() Mode { return v.mode }

// Request returns get with the fields that the check needs.
func (v *Verifier) Request(get store.Get) store.Get {
	switch v.mode {
	case Content:
		get.Into = v.content
	case Checksum, Stored:
		get.Into, get.Checksum = &v.sum, v.sum.onStored
	}
	return get
}

// Reset prepares for another attempt. Offset must say where in the object a part
// begins.
func (v *Verifier) Reset(obj *store.Object, get *store.Get) {
	switch v.mode {
	case Content:
		v.content.Reset(generator.PayloadID(obj.Key), obj.Size, get.Offset)
	case Checksum, Stored:
		v.sum.setStored(store.StoredChecksum{})
	}
}

// AnyLength is the expected length of an object whose size is not known.
const AnyLength = -1

// Download checks a complete download of want bytes.
func (v *Verifier) Download(obj *store.Object, d *store.Download, want int64, tr *store.Trace) error {
	if v.mode == None {
		return nil
	}
	if want != AnyLength && d.Bytes != want {
		return wrongLength(d.Bytes, want, tr)
	}
	switch v.mode {
	case Content:
		// Before the ETag, which is often wrong as well and says less.
		if d, ok := v.content.Difference(); ok {
			return wrong(store.CodeWrongContent, tr, "the byte at offset %d of %s is 0x%02x instead of 0x%02x", d.Offset, obj.Key, d.Got, d.Want)
		}
	case Checksum, Stored:
		if v.mode == Stored && v.sum.hash == nil {
			break
		}
		if err := v.sum.check(obj.Key, tr); err != nil {
			return err
		}
	}
	return Object(obj, d.Object, tr)
}

// Stat checks an answer about the metadata of an object.
func (v *Verifier) Stat(want *store.Object, got store.Object, tr *store.Trace) error {
	if v.mode == None {
		return nil
	}
	if want.Size != AnyLength && got.Size != want.Size {
		return wrongLength(got.Size, want.Size, tr)
	}
	return Object(want, got, tr)
}

// Object compares ETag and version of an answer with the upload or listing of the
// object.
func Object(want *store.Object, got store.Object, tr *store.Trace) error {
	if want.ETag != "" && got.ETag != "" && got.ETag != want.ETag {
		return wrong(store.CodeWrongETag, tr, "the store answered with ETag %s, but had said %s", got.ETag, want.ETag)
	}
	if want.VersionID != "" && got.VersionID != "" && got.VersionID != want.VersionID {
		return wrong(store.CodeWrongVersion, tr, "the store answered with version %s instead of %s", got.VersionID, want.VersionID)
	}
	return nil
}

func wrongLength(got, want int64, tr *store.Trace) error {
	return wrong(store.CodeWrongLength, tr, "the store answered with %d bytes instead of %d", got, want)
}

func wrong(code string, tr *store.Trace, format string, args ...any) error {
	return store.Errorf(code, int(tr.Status()), format, args...)
}

// A checksum computes the checksum that the store keeps.
type checksum struct {
	onStored func(store.StoredChecksum) // setStored, allocated once
	stored   store.StoredChecksum
	hash     hash.Hash            // nil = there is nothing to compute
	known    map[string]hash.Hash // by algorithm, for the next object
	sum      []byte
	text     []byte
}

// setStored selects the hash. It is called before the payload arrives.
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

func (c *checksum) check(key string, tr *store.Trace) error {
	const toDo = "; upload with --checksum=CRC64NVME, CRC32-FO or CRC32C-FO, or choose another --verify"
	switch {
	case c.stored.Algorithm == "":
		return wrong(store.CodeNoChecksum, tr, "the store keeps no checksum of %s"+toDo, key)
	case c.stored.Composite:
		return wrong(store.CodeNoChecksum, tr, "of %s, which was uploaded in parts, the store keeps a %s of the parts' checksums only"+toDo, key, c.stored.Algorithm)
	case c.hash == nil:
		return wrong(store.CodeNoChecksum, tr, "the checksum that the store keeps of %s is a %s, which warp cannot compute", key, c.stored.Algorithm)
	}
	c.sum = c.hash.Sum(c.sum[:0])
	c.text = base64.StdEncoding.AppendEncode(c.text[:0], c.sum)
	if string(c.text) != c.stored.Value {
		return wrong(store.CodeWrongChecksum, tr, "the received content of %s has the %s %s, but the store has %s", key, c.stored.Algorithm, c.text, c.stored.Value)
	}
	return nil
}
