package azure

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/store/httpclient"
)

// apiVersion is the version of the REST API that requests use.
const apiVersion = "2021-12-02"

// A sharedKey signs requests with the key of an account.
type sharedKey struct {
	account string
	signers sync.Pool // of *signer
}

// A signer holds the memory for a signature.
type signer struct {
	mac    hash.Hash
	text   []byte
	sum    [sha256.Size]byte
	params []param
}

type param struct{ name, value []byte }

func newSharedKey(account, key string) (*sharedKey, error) {
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(secret) == 0 {
		return nil, fmt.Errorf("the secret key is not the base64 key of an Azure storage account")
	}
	k := &sharedKey{account: account}
	k.signers.New = func() any { return &signer{mac: hmac.New(sha256.New, secret), text: make([]byte, 0, 512)} }
	return k, nil
}

// appendAuthorization appends the header with the signature of a request that is sent with that
// date.
func (k *sharedKey) appendAuthorization(head []byte, c *httpclient.Request, date, version string) []byte {
	s := k.signers.Get().(*signer)
	s.text = s.appendStringToSign(s.text[:0], c, k.account, date, version)
	head = append(append(append(head, "Authorization: SharedKey "...), k.account...), ':')
	head = s.appendSum(head, s.text)
	k.signers.Put(s)
	return append(head, "\r\n"...)
}

func (s *signer) appendSum(dst, text []byte) []byte {
	s.mac.Reset()
	s.mac.Write(text)
	return base64.StdEncoding.AppendEncode(dst, s.mac.Sum(s.sum[:0]))
}

// appendStringToSign appends the string that the signature covers: the method, a line for each
// standard header, the store's headers by name, and the resource.
func (s *signer) appendStringToSign(t []byte, c *httpclient.Request, account, date, version string) []byte {
	header := func(name string) {
		for i := range c.Headers {
			if c.Headers[i].Name == name {
				t = append(t, c.Headers[i].Value...)
			}
		}
		t = append(t, '\n')
	}
	t = append(append(t, c.Method...), '\n')
	header("content-encoding")
	header("content-language")
	if c.Body != nil && c.Size > 0 {
		t = strconv.AppendInt(t, c.Size, 10)
	}
	t = append(t, '\n')
	header("content-md5")
	t = append(append(t, c.ContentType...), "\n\n"...) // no date, because x-ms-date contains it
	header("if-modified-since")
	header("if-match")
	header("if-none-match")
	header("if-unmodified-since")
	if c.Length > 0 {
		t = strconv.AppendInt(append(t, "bytes="...), c.Offset, 10)
		t = strconv.AppendInt(append(t, '-'), c.Offset+c.Length-1, 10)
	}
	t = append(t, '\n')
	t = appendOwnHeaders(t, c, date, version)
	target, _ := c.Target()
	return s.appendResource(t, target, account)
}

// appendOwnHeaders appends the headers of the store, by name.
func appendOwnHeaders(t []byte, c *httpclient.Request, date, version string) []byte {
	last := ""
	for {
		next, value := "", ""
		consider := func(name, is string) {
			if name > last && (next == "" || name < next) {
				next, value = name, is
			}
		}
		consider("x-ms-date", date)
		if version != "" {
			consider("x-ms-version", version)
		}
		for i := range c.Headers {
			if name := c.Headers[i].Name; len(name) > len(keptHeaders) && name[:len(keptHeaders)] == keptHeaders {
				consider(name, c.Headers[i].Value)
			}
		}
		if next == "" {
			return t
		}
		t = append(append(t, next...), ':')
		t = append(append(t, strings.TrimSpace(value)...), '\n')
		last = next
	}
}

// appendResource appends the resource of a request: the account, the path as it is sent, and the
// unescaped parameters by name.
func (s *signer) appendResource(t, target []byte, account string) []byte {
	path, query, _ := bytes.Cut(target, []byte("?"))
	t = append(append(append(t, '/'), account...), path...)
	if len(query) == 0 {
		return t
	}
	s.params = s.params[:0]
	for item := range bytes.SplitSeq(query, []byte("&")) {
		name, value, _ := bytes.Cut(item, []byte("="))
		at := len(s.params)
		for at > 0 && bytes.Compare(name, s.params[at-1].name) < 0 {
			at--
		}
		s.params = append(s.params, param{})
		copy(s.params[at+1:], s.params[at:])
		s.params[at] = param{name, value}
	}
	for _, p := range s.params {
		t = appendLower(append(t, '\n'), p.name)
		t = appendUnescaped(append(t, ':'), p.value)
	}
	return t
}

func appendLower(dst, s []byte) []byte {
	for _, c := range s {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

// appendUnescaped appends percent-encoded text unescaped.
func appendUnescaped(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(string(s[i+1:i+3]), 16, 8); err == nil {
				dst = append(dst, byte(v))
				i += 2
				continue
			}
		}
		dst = append(dst, s[i])
	}
	return dst
}

// A clock formats the date of requests once a second.
type clock struct{ now atomic.Pointer[dated] }

type dated struct {
	second int64
	text   string
}

func (c *clock) date() string {
	now := time.Now()
	d := c.now.Load()
	if d == nil || d.second != now.Unix() {
		d = &dated{now.Unix(), now.UTC().Format(http.TimeFormat)}
		c.now.Store(d)
	}
	return d.text
}
