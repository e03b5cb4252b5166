package store

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
)

// A leanField is a header that the options ask for. Its value is fixed, or made
// for each object.
type leanField struct {
	Header
	random *Attribute  // the value, where it is another one for each object
	tags   []Attribute // of which the value is made, likewise
}

// leanFields are the headers of the requests that options are for, in the order
// of their names.
type leanFields struct {
	put, part, read []leanField
	empty           []leanField // of a Put without a payload, behind which no checksum could follow
}

func newLeanFields(o *Options, checksum minio.ChecksumType) leanFields {
	var f leanFields
	if o.Encryption.Kind == SSEC {
		f.read = o.Encryption.fields()
		f.part = f.read
	}
	f.put = append(f.put, o.Encryption.fields()...)
	if o.StorageClass != "" {
		f.put = append(f.put, fixedField("x-amz-storage-class", o.StorageClass))
	}
	for i := range o.Metadata {
		a := &o.Metadata[i]
		field := fixedField(metadataPrefix+strings.ToLower(a.Key), a.Value)
		if a.Random > 0 {
			field.random = a
		}
		f.put = append(f.put, field)
	}
	if len(o.Tags) > 0 {
		f.put = append(f.put, tagField(o.Tags))
	}
	f.empty = slices.Clone(f.put)
	if checksum.IsSet() {
		f.put = append(f.put, fixedField(checksumAlgorithmHeader, checksum.String()))
		f.empty = append(f.empty, fixedField(checksum.Key(), checksum.EncodeToString(nil)))
	}
	if checksum.FullObjectRequested() {
		f.put = append(f.put, fixedField(checksumTypeHeader, checksumOfWhole))
	}
	sortFields(f.put)
	sortFields(f.empty)
	return f
}

func sortFields(fields []leanField) {
	slices.SortFunc(fields, func(a, b leanField) int { return cmp.Compare(a.Name, b.Name) })
}

func fixedField(name, value string) leanField {
	return leanField{Header: Header{Name: name, Value: value}}
}

// fields are the encryption's headers, in the order of their names.
func (e *Encryption) fields() []leanField {
	const prefix = "x-amz-server-side-encryption"
	switch e.Kind {
	case SSEC:
		return []leanField{
			fixedField(prefix+"-customer-algorithm", "AES256"),
			fixedField(prefix+"-customer-key", base64.StdEncoding.EncodeToString(e.Key[:])),
			fixedField(prefix+"-customer-key-md5", md5Base64(e.Key[:])),
		}
	case SSES3:
		return []leanField{fixedField(prefix, "AES256")}
	case SSEKMS:
		return []leanField{fixedField(prefix, "aws:kms"), fixedField(prefix+"-aws-kms-key-id", e.KeyID)}
	}
	return nil
}

// tagField is the header that carries all tags.
func tagField(tags []Attribute) leanField {
	sorted := slices.Clone(tags)
	slices.SortFunc(sorted, func(a, b Attribute) int { return cmp.Compare(a.Key, b.Key) })
	field := leanField{Header: Header{Name: "x-amz-tagging"}, tags: sorted}
	if !slices.ContainsFunc(tags, func(a Attribute) bool { return a.Random > 0 }) {
		field.Value, field.tags = string(field.appendValue(nil, "")), nil
	}
	return field
}

// appendValue appends the header's value for the object called key.
func (f *leanField) appendValue(dst []byte, key string) []byte {
	if f.random != nil {
		return f.random.AppendValue(dst, key)
	}
	if f.tags == nil {
		return append(dst, strings.TrimSpace(f.Value)...)
	}
	for i := range f.tags {
		if i > 0 {
			dst = append(dst, '&')
		}
		t := &f.tags[i]
		dst = append(appendFormEscaped(dst, t.Key), '=')
		if t.Random > 0 {
			dst = t.AppendValue(dst, key) // which needs no escaping
		} else {
			dst = appendFormEscaped(dst, t.Value)
		}
	}
	return dst
}

// appendFormEscaped escapes as forms do, where a blank is a plus.
func appendFormEscaped(dst []byte, s string) []byte {
	for word := range strings.SplitSeq(s, " ") {
		dst = append(appendEscaped(dst, word, false), '+')
	}
	return dst[:len(dst)-1]
}

// announceBody has the head carry what is to be known of the payload before it
// comes: its MD5, where that is asked for. The payload is read once for that,
// and once again to be sent.
func (c *leanConn) announceBody(q *leanQuery) error {
	if !q.md5 {
		return nil
	}
	s := &c.signer
	s.beginMD5()
	for off := int64(0); off < q.size; {
		b := c.room(int(min(q.size-off, int64(c.e.piece))))
		if err := readBody(q.body, b, off); err != nil {
			return err
		}
		s.md5.Write(b)
		off += int64(len(b))
	}
	s.endMD5()
	return nil
}

// trailerLine is the line that follows the payload and has its checksum; with
// nothing hashed yet it is as long as it will be.
func (c *leanConn) appendTrailerLine(dst []byte) []byte {
	dst = append(append(dst, c.e.trailer...), ':')
	c.signer.raw = c.sum.Sum(c.signer.raw[:0])
	return append(base64.StdEncoding.AppendEncode(dst, c.signer.raw), '\n')
}

// beginSum gets ready to compute the checksum of another payload.
func (c *leanConn) beginSum() {
	if c.sum == nil {
		c.sum = c.e.checksum.Hasher()
	}
	c.sum.Reset()
}
