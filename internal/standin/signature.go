// Package standin has servers for tests, in place of stores that tests cannot run: a gateway below
// a path that redirects, S3 Express One Zone, and AIStore. They behave as documented, and check
// each signature by AWS's rules, with code that is independent of the engines'.
package standin

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Key is a pair of keys that may sign requests.
type Key struct{ Access, Secret, Token string }

// A Signature is the parsed Authorization header of a V4 signature.
type Signature struct {
	Access, Date, Region, Service string
	headers                       []string
	hex                           string
}

// ParseSignature parses the Authorization header of a request.
func ParseSignature(r *http.Request) (s Signature, err error) {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return s, fmt.Errorf("the request is not signed by V4: %q", r.Header.Get("Authorization"))
	}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Credential":
			scope := strings.Split(value, "/")
			if len(scope) != 5 || scope[4] != "aws4_request" {
				return s, fmt.Errorf("the scope of the signature is %q", value)
			}
			s.Access, s.Date, s.Region, s.Service = scope[0], scope[1], scope[2], scope[3]
		case "SignedHeaders":
			s.headers = strings.Split(value, ";")
		case "Signature":
			s.hex = value
		}
	}
	if s.Access == "" || len(s.headers) == 0 || len(s.hex) != 64 {
		return s, fmt.Errorf("the signature is incomplete: %q", rest)
	}
	return s, nil
}

// Verify checks the signature of a request with the secret key, and the hash of its payload, which
// it reads and restores.
func (s *Signature) Verify(r *http.Request, secret string) error {
	_, err := s.payload(r, secret)
	return err
}

// payload is like Verify, and returns the payload.
func (s *Signature) payload(r *http.Request, secret string) ([]byte, error) {
	p, err := s.verify(r, secret)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.rest, p.data = body, nil
	if err := p.verify(r, r.Header.Get("X-Amz-Content-Sha256")); err != nil || strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return p.data, err
	}
	return body, nil
}

func (s *Signature) verify(r *http.Request, secret string) (*payload, error) {
	if !slices.IsSorted(s.headers) || !slices.Contains(s.headers, "host") {
		return nil, fmt.Errorf("the signed headers are %q", s.headers)
	}
	for name := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-amz-") && !slices.Contains(s.headers, lower) {
			return nil, fmt.Errorf("the header %s is not signed", name)
		}
	}
	when, hash := r.Header.Get("X-Amz-Date"), r.Header.Get("X-Amz-Content-Sha256")
	if len(when) != 16 || when[:8] != s.Date {
		return nil, fmt.Errorf("the date is %q, in the scope %q", when, s.Date)
	}
	scope := s.Date + "/" + s.Region + "/" + s.Service + "/aws4_request"
	canonical := sha256.Sum256([]byte(s.canonical(r, hash)))
	key := []byte("AWS4" + secret)
	for _, part := range []string{s.Date, s.Region, s.Service, "aws4_request"} {
		key = sign(key, part)
	}
	want := hex.EncodeToString(sign(key, "AWS4-HMAC-SHA256\n"+when+"\n"+scope+"\n"+hex.EncodeToString(canonical[:])))
	if want != s.hex {
		return nil, fmt.Errorf("the signature does not match the request\n%s", s.canonical(r, hash))
	}
	return &payload{key: key, when: when, scope: scope, last: s.hex}, nil
}

func sign(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// canonical returns the canonical request.
func (s *Signature) canonical(r *http.Request, hash string) string {
	var query []string
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, _ = url.QueryUnescape(name)
		value, _ = url.QueryUnescape(value)
		query = append(query, escape(name, false)+"="+escape(value, false))
	}
	slices.Sort(query)
	text := r.Method + "\n" + escape(r.URL.Path, true) + "\n" + strings.Join(query, "&") + "\n"
	for _, name := range s.headers {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		text += name + ":" + strings.Join(strings.Fields(value), " ") + "\n"
	}
	return text + "\n" + strings.Join(s.headers, ";") + "\n" + hash
}

func escape(s string, path bool) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 || path && c == '/' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// A payload is a body whose signature is checked.
type payload struct {
	key               []byte
	when, scope, last string
	rest              []byte
	data              []byte // without its framing
}

func (p *payload) verify(r *http.Request, hash string) error {
	switch hash {
	case "UNSIGNED-PAYLOAD":
		return nil
	case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
		want, err := strconv.Atoi(r.Header.Get("X-Amz-Decoded-Content-Length"))
		if err != nil {
			return fmt.Errorf("the decoded length is %q", r.Header.Get("X-Amz-Decoded-Content-Length"))
		}
		got, err := p.chunks(strings.Contains(hash, "HMAC"), strings.Contains(hash, "TRAILER"))
		if err == nil && got != want {
			err = fmt.Errorf("the payload has %d bytes, announced were %d", got, want)
		}
		return err
	}
	if sum := sha256.Sum256(p.rest); hex.EncodeToString(sum[:]) != hash {
		return fmt.Errorf("the payload of %d bytes has another hash than the header says: %q", len(p.rest), hash)
	}
	return nil
}

func (p *payload) line() (string, bool) {
	line, rest, ok := bytes.Cut(p.rest, []byte("\r\n"))
	p.rest = rest
	return string(line), ok
}

// chunks checks the chunks of a payload and its trailer, and returns the length of the payload.
func (p *payload) chunks(signed, trailer bool) (size int, err error) {
	for {
		line, ok := p.line()
		number, signature, _ := strings.Cut(line, ";chunk-signature=")
		n, err := strconv.ParseInt(number, 16, 32)
		if !ok || err != nil || int(n) > len(p.rest) {
			return size, fmt.Errorf("a chunk begins with %.80q", line)
		}
		data := p.rest[:n]
		p.rest = p.rest[n:]
		if signed {
			empty, sum := sha256.Sum256(nil), sha256.Sum256(data)
			if err := p.check("AWS4-HMAC-SHA256-PAYLOAD", hex.EncodeToString(empty[:])+"\n"+hex.EncodeToString(sum[:]), signature); err != nil {
				return size, fmt.Errorf("the chunk at %d: %w", size, err)
			}
		}
		size += int(n)
		p.data = append(p.data, data...)
		if n == 0 && trailer {
			return size, p.trailer(signed)
		}
		if !bytes.HasPrefix(p.rest, []byte("\r\n")) {
			return size, fmt.Errorf("the chunk that ends at %d has no line end", size)
		}
		if p.rest = p.rest[2:]; n == 0 {
			return size, nil
		}
	}
}

func (p *payload) check(kind, text, signature string) error {
	want := hex.EncodeToString(sign(p.key, kind+"\n"+p.when+"\n"+p.scope+"\n"+p.last+"\n"+text))
	if want != signature {
		return errors.New("the signature does not match")
	}
	p.last = signature
	return nil
}

// trailer checks the line of the checksum. minio-go adds an extra line feed to it.
func (p *payload) trailer(signed bool) error {
	line, _ := p.line()
	line = strings.TrimSuffix(line, "\n")
	if !strings.HasPrefix(strings.ToLower(line), "x-amz-checksum-") {
		return fmt.Errorf("the trailer is %.80q", line)
	}
	if !signed {
		return nil
	}
	sum := sha256.Sum256([]byte(strings.ToLower(line[:strings.IndexByte(line, ':')]) + line[strings.IndexByte(line, ':'):] + "\n"))
	signature, _ := p.line()
	return p.check("AWS4-HMAC-SHA256-TRAILER", hex.EncodeToString(sum[:]), strings.TrimPrefix(signature, "x-amz-trailer-signature:"))
}
