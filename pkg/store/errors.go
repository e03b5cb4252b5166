package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"warp/internal/human"
)

// Codes of failures that no store reported. They appear with the S3 error codes in logs and
// reports.
const (
	CodeRefused        = "ConnectionRefused"
	CodeReset          = "ConnectionReset"
	CodeClosed         = "ConnectionClosed"
	CodeUnreachable    = "HostUnreachable"
	CodeTimeout        = "Timeout" // the context's deadline has passed
	CodeConnectTimeout = "ConnectTimeout"
	CodeAnswerTimeout  = "AnswerTimeout"
	CodeStallTimeout   = "StallTimeout"
	CodeDrainTimeout   = "DrainTimeout" // the run is over and no longer waits
	CodeDNS            = "NameNotResolved"
	CodeTLS            = "TLSFailed"
	CodeCanceled       = "Canceled"
	CodeShortRead      = "ShortRead"
	CodeWrongLength    = "WrongLength"
	CodeWrongETag      = "WrongETag"
	CodeWrongVersion   = "WrongVersion"
	CodeWrongList      = "WrongListing"
	CodeWrongTags      = "WrongTags"
	CodeBadAnswer      = "BadAnswer"
	CodePartial        = "PartialFailure"
	CodeNoHTTP2        = "NoHTTP2"
	CodeNeedsTLS       = "NeedsTLS"
	CodeRedirect       = "Redirect"
)

// Codes of downloads whose content failed verification.
const (
	CodeWrongContent  = "WrongContent"
	CodeWrongChecksum = "WrongChecksum"
	CodeNoChecksum    = "NoChecksum"
)

// HTMLPage is the message of an error whose document is an HTML page.
const HTMLPage = "an HTML page"

// Refusal returns the error for an answer other than a success. The message is from the store; an empty one becomes the text of
// the status, and an HTML page is not repeated.
func Refusal(status int, code, message string) *Error {
	switch begin := strings.ToLower(strings.TrimSpace(message[:min(len(message), 100)])); {
	case begin == "":
		message = http.StatusText(status)
	case strings.HasPrefix(begin, "<!doctype html"), strings.HasPrefix(begin, "<html"):
		message = HTMLPage
	}
	return &Error{Code: code, Message: OneLine(message), Status: status}
}

// An Error is a failed request: a code to count it under, a message, and the HTTP status if there
// was an answer.
type Error struct {
	Code     string
	Message  string
	Status   int
	Region   string // the bucket's region, according to the store
	Document string // the root element of an XML document that came instead of another, or Nothing
}

func (e *Error) Error() string {
	switch {
	case e.Message == "":
		return e.Code
	case strings.HasPrefix(e.Message, e.Code+": "):
		return e.Message // the message of a wrapped error
	}
	return e.Code + ": " + e.Message
}

// Errorf returns an [Error] whose message is formatted.
func Errorf(code string, status int, format string, args ...any) *Error {
	return &Error{Code: code, Status: status, Message: fmt.Sprintf(format, args...)}
}

// Nothing is the Document of an empty answer.
const Nothing = "nothing"

// BadAnswer returns an [Error] that says why an answer is wrong.
func BadAnswer(status int, format string, args ...any) *Error {
	return Errorf(CodeBadAnswer, status, format, args...)
}

// CodeOf returns the code of err, or "" if it is not an [Error].
func CodeOf(err error) string {
	if err == nil {
		return "" // return before anything is allocated
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// IsConnection reports whether connecting to the host failed, so that an immediate retry is
// pointless.
func IsConnection(err error) bool {
	switch CodeOf(err) {
	case CodeRefused, CodeUnreachable, CodeDNS, CodeTLS, CodeConnectTimeout:
		return true
	}
	return false
}

// IsTimeout reports whether err is a timeout.
func IsTimeout(err error) bool {
	switch CodeOf(err) {
	case CodeTimeout, CodeConnectTimeout, CodeAnswerTimeout, CodeStallTimeout:
		return true
	}
	return false
}

// IsUnsupported reports whether err means that the store does not support the function: it says so,
// or it ignores the parameter that asks for it, and lists the bucket.
func IsUnsupported(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Status == 405 || e.Status == 501 || e.Status >= 400 && e.Code == "NotImplemented" || e.ignoresParameter()
}

// ignoresParameter reports whether the store sent a listing of objects instead of the document that
// a parameter asks for.
func (e *Error) ignoresParameter() bool { return e.Document == "ListBucketResult" }

// Repeatable reports whether the same request may succeed a moment later.
func Repeatable(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case CodeCanceled, CodeTLS, CodeNeedsTLS, "NotImplemented": // some engines return these without asking the store
		return false
	}
	switch e.Status {
	case 0, 408, 429:
		return true
	}
	return e.Status >= 500 && e.Status != 501 || e.Code == CodeShortRead
}

// unanswered reports whether the request may have reached the store but had no answer. The store
// may still carry it out.
func unanswered(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == 0 && !IsConnection(err)
}

// AsError turns an error of a connection into an [*Error]. It returns nil for nil, and an *Error
// unchanged. status is the status of the answer, or 0 if there was none.
func AsError(err error, status int) error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	code := netCode(err)
	if code == CodeTimeout && innermost(err) != context.DeadlineExceeded {
		return timeoutError(err, status)
	}
	return &Error{Code: code, Message: plainText(err), Status: status}
}

// innermost returns the root cause. Timeouts of net and net/http look like timeouts of a context.
func innermost(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}

// timeoutError returns the error for one of net's and net/http's timeouts.
func timeoutError(err error, status int) *Error {
	var op *net.OpError
	isOp := errors.As(err, &op)
	switch {
	case isOp && op.Op == "dial", strings.Contains(err.Error(), "TLS handshake timeout"):
		return Errorf(CodeConnectTimeout, status, "no connection in time")
	case isOp && op.Op == "write":
		return Errorf(CodeStallTimeout, status, "the store read no more of the request in time")
	case status == 0:
		return Errorf(CodeAnswerTimeout, status, "the store did not answer in time")
	}
	return Errorf(CodeStallTimeout, status, "no more of the answer arrived in time")
}

// netCode returns the code of a failure below HTTP.
func netCode(err error) string {
	var (
		dns    *net.DNSError
		netErr net.Error
		unk    x509.UnknownAuthorityError
		host   x509.HostnameError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return CodeCanceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return CodeTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return CodeRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return CodeReset
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		return CodeUnreachable
	case errors.As(err, &dns):
		return CodeDNS
	case errors.As(err, &unk), errors.As(err, &host), errors.As(err, &cert), errors.As(err, &record),
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"), strings.Contains(err.Error(), "tls: "):
		return CodeTLS
	case errors.As(err, &netErr) && netErr.Timeout():
		return CodeTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		strings.Contains(err.Error(), minioClosed),
		strings.Contains(err.Error(), "server closed idle connection"):
		return CodeClosed
	case strings.Contains(err.Error(), "malformed HTTP"), strings.Contains(err.Error(), "bad Content-Length"),
		strings.Contains(err.Error(), "XML"), strings.Contains(err.Error(), "net/http: HTTP/1.x"):
		return CodeBadAnswer
	}
	return "RequestFailed"
}

// minioClosed is how minio-go begins its text for an EOF; the URL follows.
const minioClosed = "Connection closed by foreign host"

// plainText returns the error without the URL and the addresses that net/http and net add in front.
// They differ from request to request and may contain a signature, and logs have the endpoint
// anyway.
func plainText(err error) string {
	var op *net.OpError
	var u *url.Error
	switch {
	case errors.As(err, &op) && op.Err != nil:
		err = op.Err
	case errors.As(err, &u):
		err = u.Err
	}
	if strings.HasPrefix(err.Error(), minioClosed) {
		return "the store closed the connection before it had answered"
	}
	return OneLine(err.Error())
}

// OneLine turns a text from the store into one printable line of bounded length.
func OneLine(s string) string {
	const maxSize = 300
	s = strings.Join(strings.Fields(human.OneLine(s)), " ")
	if len(s) > maxSize {
		s = s[:maxSize] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
