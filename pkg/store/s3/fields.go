package s3

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// A field is a header that the options ask for. Its value is either fixed or computed for each
// object.
type field struct {
	store.Header
	random *store.Attribute  // the value, if it differs from object to object
	tags   []store.Attribute // the tags of which the value consists, likewise
}

// A fieldSet holds the headers of each kind of request, sorted by name.
type fieldSet struct {
	put, part, read []field
	empty           []field // for a Put without a payload, which cannot have a trailer
}

func newFields(o *store.Options, checksum minio.ChecksumType) fieldSet {
	var f fieldSet
	if o.Encryption.Kind == store.SSEC {
		f.read = encryptionFields(&o.Encryption)
		f.part = f.read
	}
	f.put = append(f.put, encryptionFields(&o.Encryption)...)
	if o.StorageClass != "" {
		f.put = append(f.put, fixedField("x-amz-storage-class", o.StorageClass))
	}
	for i := range o.Metadata {
		a := &o.Metadata[i]
		field := fixedField(MetadataPrefix+strings.ToLower(a.Key), a.Value)
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
		f.put = append(f.put, fixedField(ChecksumAlgorithmHeader, checksum.String()))
		f.empty = append(f.empty, fixedField(checksum.Key(), checksum.EncodeToString(nil)))
	}
	if checksum.FullObjectRequested() {
		f.put = append(f.put, fixedField(ChecksumTypeHeader, FullObject))
	}
	sortFields(f.put)
	sortFields(f.empty)
	return f
}

func sortFields(fields []field) {
	slices.SortFunc(fields, func(a, b field) int { return cmp.Compare(a.Name, b.Name) })
}

func fixedField(name, value string) field {
	return field{Header: store.Header{Name: name, Value: value}}
}

// encryptionFields returns the headers for encryption, sorted by name.
func encryptionFields(e *store.Encryption) []field {
	const prefix = "x-amz-server-side-encryption"
	switch e.Kind {
	case store.SSEC:
		return []field{
			fixedField(prefix+"-customer-algorithm", "AES256"),
			fixedField(prefix+"-customer-key", base64.StdEncoding.EncodeToString(e.Key[:])),
			fixedField(prefix+"-customer-key-md5", md5Base64(e.Key[:])),
		}
	case store.SSES3:
		return []field{fixedField(prefix, "AES256")}
	case store.SSEKMS:
		return []field{fixedField(prefix, "aws:kms"), fixedField(prefix+"-aws-kms-key-id", e.KeyID)}
	}
	return nil
}

// tagField returns the header with all tags.
func tagField(tags []store.Attribute) field {
	sorted := slices.Clone(tags)
	slices.SortFunc(sorted, func(a, b store.Attribute) int { return cmp.Compare(a.Key, b.Key) })
	field := field{Header: store.Header{Name: "x-amz-tagging"}, tags: sorted}
	if !slices.ContainsFunc(tags, func(a store.Attribute) bool { return a.Random > 0 }) {
		field.Value, field.tags = string(field.appendValue(nil, "")), nil
	}
	return field
}

// appendValue appends the value of the header for the object called key.
func (f *field) appendValue(dst []byte, key string) []byte {
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
			dst = t.AppendValue(dst, key) // tags that need no escaping
		} else {
			dst = appendFormEscaped(dst, t.Value)
		}
	}
	return dst
}

// appendFormEscaped escapes as HTML forms do, with + for a space.
func appendFormEscaped(dst []byte, s string) []byte {
	for word := range strings.SplitSeq(s, " ") {
		dst = append(httpclient.AppendEscaped(dst, word), '+')
	}
	return dst[:len(dst)-1]
}

// announceBody computes the MD5 of the payload for the head, if the request has one. The payload
// is then read twice.
func (c *writer) announceBody() error {
	q := c.q
	if !q.md5 {
		return nil
	}
	s := &c.signer
	s.beginMD5()
	for off := int64(0); off < q.Size; {
		b := c.Room(int(min(q.Size-off, int64(c.Piece()))))
		if err := httpclient.ReadBody(q.Body, b, off); err != nil {
			return err
		}
		s.md5.Write(b)
		off += int64(len(b))
	}
	s.endMD5()
	return nil
}

// appendTrailerLine appends the line with the checksum that follows the payload. Its length does
// not depend on the payload.
func (c *writer) appendTrailerLine(dst []byte) []byte {
	dst = append(append(dst, c.e.trailer...), ':')
	c.signer.raw = c.sum.Sum(c.signer.raw[:0])
	return append(base64.StdEncoding.AppendEncode(dst, c.signer.raw), '\n')
}

// beginSum prepares to compute the checksum of another payload.
func (c *writer) beginSum() {
	if c.sum == nil {
		c.sum = c.e.checksum.Hasher()
	}
	c.sum.Reset()
}
