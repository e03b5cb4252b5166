package s3

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"time"

	"warp/pkg/store"
)

// Values of x-amz-content-sha256 other than a hash of the payload.
const (
	UnsignedPayload  = "UNSIGNED-PAYLOAD"
	streamingPayload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	signedTrailer    = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
	UnsignedTrailer  = "STREAMING-UNSIGNED-PAYLOAD-TRAILER" // a checksum follows the payload, and neither is signed
)

// A signer makes AWS V4 signatures. It keeps all memory, and everything that stays the same for a
// second or a day. It serves one connection at a time.
type signer struct {
	second int64    // the second of the times below
	date   [16]byte // 20060102T150405Z
	keys   store.Keys
	region string
	scope  []byte // 20060102/region/service/aws4_request
	key    dayKey
	epoch  uint32 // changes with the second, the credentials and the region
	text   []byte // text to be hashed or signed
	names  []byte // names of the signed headers, each with a semicolon after it
	sum    [sha256.Size]byte
	last   [2 * sha256.Size]byte // the latest signature, in hex; chunks build on it
	plain  hash.Hash             // SHA-256 of payloads
	md5    hash.Hash
	md5Sum [md5.Size]byte // MD5 of the body, if its header is required
	raw    []byte         // a checksum
}

func (s *signer) anonymous() bool { return s.keys.Anonymous() }

// at sets the time of the next signatures.
func (s *signer) at(now time.Time) {
	second := now.Unix()
	if second == s.second {
		return
	}
	s.second = second
	s.epoch++
	now.UTC().AppendFormat(s.date[:0], "20060102T150405Z")
}

// use sets credentials and region, and derives the day's key if any of them or the day has changed.
// Requests that alternate between buckets call it again and again.
func (s *signer) use(keys store.Keys, region string) {
	day := s.date[:8]
	if s.key.hash != nil && string(s.scope[:8]) == string(day) && s.region == region && s.keys == keys {
		return
	}
	s.keys, s.region = keys, region
	s.epoch++
	s.scope = append(append(append(s.scope[:0], day...), '/'), region...)
	service := "s3"
	if keys.Signature == SignExpress {
		service = "s3express"
	}
	s.scope = append(append(append(s.scope, '/'), service...), "/aws4_request"...)
	key := []byte("AWS4" + keys.SecretKey)
	for _, part := range []string{string(day), region, service, "aws4_request"} {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(part))
		key = m.Sum(nil)
	}
	s.key.use(key)
}

// sign signs the canonical request in s.text; the signature is in s.last.
func (s *signer) sign() {
	s.sum = sha256.Sum256(s.text)
	if s.key.begun != s.epoch {
		s.begin("AWS4-HMAC-SHA256\n")
		s.key.begin(s.text, s.epoch)
	}
	s.text = appendHex(s.text[:0], &s.sum)
	s.key.seal(s.key.start, s.text, &s.sum)
	appendHex(s.last[:0], &s.sum)
}

// signChunk signs a chunk of a streamed payload, chained to the previous signature.
func (s *signer) signChunk(data []byte) {
	s.signNext("AWS4-HMAC-SHA256-PAYLOAD\n", "\n"+EmptyPayload+"\n", data)
}

// signTrailer signs the line after a streamed payload.
func (s *signer) signTrailer(line []byte) {
	s.signNext("AWS4-HMAC-SHA256-TRAILER\n", "\n", line)
}

// signNext signs what follows the head, chained to the previous signature.
func (s *signer) signNext(algorithm, between string, data []byte) {
	s.hash(data)
	s.begin(algorithm)
	s.text = append(append(s.text, s.last[:]...), between...)
	s.text = appendHex(s.text, &s.sum)
	s.key.seal(s.key.inner, s.text, &s.sum)
	appendHex(s.last[:0], &s.sum)
}

// begin starts the string to sign in s.text.
func (s *signer) begin(algorithm string) {
	s.text = append(append(append(s.text[:0], algorithm...), s.date[:]...), '\n')
	s.text = append(append(s.text, s.scope...), '\n')
}

// A dayKey computes HMAC-SHA256 with the key of a day. Unlike crypto/hmac it also keeps the state
// after the first lines of the string to sign, which stay the same for a second.
type dayKey struct {
	hash         hash.Hash
	inner, outer []byte // states after the two forms of the key
	start        []byte // state after the text passed to begin
	begun        uint32 // the epoch of that text
}

func (k *dayKey) use(key []byte) {
	if k.hash == nil {
		k.hash = sha256.New()
	}
	var block [sha256.BlockSize]byte
	for _, form := range []struct {
		pad   byte
		state *[]byte
	}{{0x36, &k.inner}, {0x5c, &k.outer}} {
		for i := range block {
			block[i] = form.pad
			if i < len(key) {
				block[i] ^= key[i]
			}
		}
		k.hash.Reset()
		k.hash.Write(block[:])
		*form.state = k.appendState((*form.state)[:0])
	}
}

// begin prepares for messages that begin with text.
func (k *dayKey) begin(text []byte, epoch uint32) {
	k.restore(k.inner)
	k.hash.Write(text)
	k.start, k.begun = k.appendState(k.start[:0]), epoch
}

// seal computes the HMAC of a message that continues from state with text.
func (k *dayKey) seal(state, text []byte, sum *[sha256.Size]byte) {
	k.restore(state)
	k.hash.Write(text)
	k.hash.Sum(sum[:0])
	k.restore(k.outer)
	k.hash.Write(sum[:])
	k.hash.Sum(sum[:0])
}

// restore and appendState cannot fail, because the states come from the same hash.
func (k *dayKey) restore(state []byte) {
	_ = k.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
}

func (k *dayKey) appendState(b []byte) []byte {
	b, _ = k.hash.(encoding.BinaryAppender).AppendBinary(b)
	return b
}

// appendHex is like hex.AppendEncode, four bytes at a time. It takes a third of the time.
func appendHex(dst []byte, sum *[sha256.Size]byte) []byte {
	for i := 0; i < len(sum); i += 4 {
		x := uint64(binary.BigEndian.Uint32(sum[i:]))
		x = (x<<16 | x) & 0x0000ffff0000ffff
		x = (x<<8 | x) & 0x00ff00ff00ff00ff
		x = (x<<4 | x) & 0x0f0f0f0f0f0f0f0f // a digit in each byte
		letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
		dst = binary.BigEndian.AppendUint64(dst, x+0x3030303030303030+letters*('a'-'0'-10))
	}
	return dst
}

// hash stores the SHA-256 of data in s.sum.
func (s *signer) hash(data []byte) {
	if s.plain == nil {
		s.plain = sha256.New()
	}
	s.plain.Reset()
	s.plain.Write(data)
	s.plain.Sum(s.sum[:0])
}

// hashMD5 stores the MD5 of data in s.md5Sum.
func (s *signer) hashMD5(data []byte) {
	s.beginMD5()
	s.md5.Write(data)
	s.endMD5()
}

func (s *signer) beginMD5() {
	if s.md5 == nil {
		s.md5 = md5.New()
	}
	s.md5.Reset()
}

func (s *signer) endMD5() { s.md5.Sum(s.md5Sum[:0]) }

// md5Base64 returns the MD5 of data as headers contain it.
func md5Base64(data []byte) string {
	sum := md5.Sum(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}
