package s3

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// What x-amz-content-sha256 says instead of a hash of the payload.
const (
	unsignedPayload  = "UNSIGNED-PAYLOAD"
	streamingPayload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	signedTrailer    = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
	unsignedTrailer  = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
	emptyPayload     = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// A leanSigner makes AWS V4 signatures. What stays the same for a second or a
// day is kept, and so is all memory. It serves one connection.
type leanSigner struct {
	second int64    // of the times below
	date   [16]byte // 20060102T150405Z
	value  credentials.Value
	region string
	scope  []byte // 20060102/region/s3/aws4_request
	mac    hash.Hash
	text   []byte // what is hashed or signed
	names  []byte // of the signed headers, each with a semicolon behind it
	sum    [sha256.Size]byte
	last   [2 * sha256.Size]byte // the latest signature, in hex; chunks build on it
	plain  hash.Hash             // SHA-256 of payloads
	md5    hash.Hash
	md5Sum [md5.Size]byte // of the body, where its header is asked for
	raw    []byte         // a checksum
}

func (s *leanSigner) anonymous() bool { return s.value.SignerType.IsAnonymous() }

// at sets the time of what follows. It returns whether a new second began.
func (s *leanSigner) at(now time.Time) bool {
	second := now.Unix()
	if second == s.second {
		return false
	}
	s.second = second
	now.UTC().AppendFormat(s.date[:0], "20060102T150405Z")
	return true
}

// use sets credentials and region, and derives the day's key where any of the
// three has changed.
func (s *leanSigner) use(value credentials.Value, region string) {
	day := s.date[:8]
	same := s.mac != nil && string(s.scope[:8]) == string(day) && s.region == region &&
		s.value.AccessKeyID == value.AccessKeyID && s.value.SecretAccessKey == value.SecretAccessKey
	s.value, s.region = value, region
	if same {
		return
	}
	s.scope = append(append(append(s.scope[:0], day...), '/'), region...)
	s.scope = append(s.scope, "/s3/aws4_request"...)
	key := []byte("AWS4" + value.SecretAccessKey)
	for _, part := range []string{string(day), region, "s3", "aws4_request"} {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(part))
		key = m.Sum(nil)
	}
	s.mac = hmac.New(sha256.New, key)
}

// sign signs the canonical request in s.text; the signature is in s.last.
func (s *leanSigner) sign() {
	s.sum = sha256.Sum256(s.text)
	s.text = append(s.text[:0], "AWS4-HMAC-SHA256\n"...)
	s.text = append(s.text, s.date[:]...)
	s.text = append(s.text, '\n')
	s.text = append(s.text, s.scope...)
	s.text = append(s.text, '\n')
	s.text = hex.AppendEncode(s.text, s.sum[:])
	s.seal()
}

// signChunk signs a chunk of a streamed payload, after the one before it.
func (s *leanSigner) signChunk(data []byte) {
	s.hash(data)
	s.text = append(s.text[:0], "AWS4-HMAC-SHA256-PAYLOAD\n"...)
	s.text = append(s.text, s.date[:]...)
	s.text = append(s.text, '\n')
	s.text = append(s.text, s.scope...)
	s.text = append(s.text, '\n')
	s.text = append(s.text, s.last[:]...)
	s.text = append(s.text, "\n"+emptyPayload+"\n"...)
	s.text = hex.AppendEncode(s.text, s.sum[:])
	s.seal()
}

// signTrailer signs the line behind a streamed payload.
func (s *leanSigner) signTrailer(line []byte) {
	s.hash(line)
	s.text = append(s.text[:0], "AWS4-HMAC-SHA256-TRAILER\n"...)
	s.text = append(s.text, s.date[:]...)
	s.text = append(s.text, '\n')
	s.text = append(s.text, s.scope...)
	s.text = append(s.text, '\n')
	s.text = append(s.text, s.last[:]...)
	s.text = append(s.text, '\n')
	s.text = hex.AppendEncode(s.text, s.sum[:])
	s.seal()
}

func (s *leanSigner) seal() {
	s.mac.Reset()
	s.mac.Write(s.text)
	s.mac.Sum(s.sum[:0])
	hex.Encode(s.last[:], s.sum[:])
}

// hash leaves the SHA-256 of data in s.sum.
func (s *leanSigner) hash(data []byte) {
	if s.plain == nil {
		s.plain = sha256.New()
	}
	s.plain.Reset()
	s.plain.Write(data)
	s.plain.Sum(s.sum[:0])
}

// hashMD5 leaves the MD5 of data in s.md5Sum.
func (s *leanSigner) hashMD5(data []byte) {
	s.beginMD5()
	s.md5.Write(data)
	s.endMD5()
}

func (s *leanSigner) beginMD5() {
	if s.md5 == nil {
		s.md5 = md5.New()
	}
	s.md5.Reset()
}

func (s *leanSigner) endMD5() { s.md5.Sum(s.md5Sum[:0]) }

// md5Base64 is the MD5 of data as headers have it.
func md5Base64(data []byte) string {
	sum := md5.Sum(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}
