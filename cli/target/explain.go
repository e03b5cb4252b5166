package target

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"warp/cli/exit"
	"warp/cli/terminal/console"
	"warp/pkg/fleet"
	"warp/pkg/store"
)

// ExplainOpen explains why a benchmark could not begin.
func (f *Flags) ExplainOpen(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return f.explainFirst(err)
}

// ExplainClient explains an error that a client of a fleet had with the store.
func (f *Flags) ExplainClient(client *fleet.Error) error {
	err := exit.Errorf("%w", client)
	var explained *exit.Error
	if errors.As(f.explainFirst(client.Err), &explained) {
		err.Hint = explained.Hint
	}
	return err
}

// explainFirst explains the first answer of a store, which may not be one of its kind.
func (f *Flags) explainFirst(err error) error {
	if noS3(err) || f.ownAPI() && store.CodeOf(err) == "HTTP400" {
		title := "S3"
		if f.Provider != nil {
			title = f.Provider.Title
		}
		from := cmp.Or(f.hostFrom, "--host")
		hint := "check " + from + " and its port"
		if path := f.accountPath(); path != "" {
			hint = "the address of an emulator ends with the account, as in " + from + "=" + strings.TrimSuffix(f.Host, "/") + path
		}
		return exit.Errorf("%w", err).WithHint("there seems to be no %s at %s: %s", title, f.Host, hint)
	}
	return f.Explain(err)
}

// accountPath returns the path with the account that the hosts of an emulator of Azure lack; "" = they lack none.
func (f *Flags) accountPath() string {
	if f.Provider == nil || f.Provider.AccountPath == "" || strings.Contains(f.Host, ",") {
		return ""
	}
	for _, host := range f.Hosts {
		if strings.Contains(host, "/") || f.Provider.Serves(host) {
			return ""
		}
	}
	return f.Provider.AccountPath
}

// withoutTLS returns what to change for plain HTTP.
func (f *Flags) withoutTLS() string {
	switch {
	case strings.Contains(f.Host, "://"):
		return "write http:// instead of https:// in --host"
	case f.Provider != nil && f.ownTLS():
		return "add --tls=false"
	default:
		return "leave out --tls"
	}
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// noS3 reports whether the first answer is unlike an S3 store's.
func noS3(err error) bool {
	text := err.Error()
	switch code := store.CodeOf(err); code {
	case store.CodeBadAnswer:
		return containsAny(text, "a document <html", "not valid XML", "not valid JSON", store.HTMLPage, "document is empty", "malformed HTTP", "has no x-ms-")
	case "HTTP404", "HTTP405", "HTTP501":
		return true
	case "NoSuchBucket", "NoSuchKey": // a 404 without any document
		return strings.Contains(text, "create bucket ")
	default:
		return strings.HasPrefix(code, "HTTP") && strings.Contains(text, store.HTMLPage)
	}
}

// ownAPI reports whether requests are of another API than S3's.
func (f *Flags) ownAPI() bool { return f.Provider != nil && f.Provider.Identify != nil }

// byToken reports whether requests carry a token instead of a signature by keys.
func (f *Flags) byToken() bool { return f.ownAPI() && f.AccessKey == "" }

// checkSource returns what to do if a store rejects credentials other than a pair of keys.
func (f *Flags) checkSource() string {
	if f.source == "" || strings.Contains(f.source, "anonymous") {
		return "requests are anonymous: give " + f.Provider.Accepts
	}
	return "check the credentials from " + f.source + ", and what they may do"
}

// deniesCaller reports whether a code means that the store does not know or allow who sent the request.
func deniesCaller(code string) bool {
	return slices.Contains([]string{"InvalidAccessKeyId", "InvalidAccessKey", "SignatureDoesNotMatch", "AccessDenied",
		"Forbidden", "Unauthorized", "HTTP401", "HTTP403"}, code)
}

// oldLetter reports whether r was allowed in names of buckets, and is no longer in S3.
func oldLetter(r rune) bool { return r == '_' || r == ':' || r >= 'A' && r <= 'Z' }

// Explain adds a hint to an error of the store.
func (f *Flags) Explain(err error) error {
	var nobody *store.UnreachableError
	code, text := store.CodeOf(err), err.Error()
	hint := ""
	switch {
	case f.byToken() && (code == "AccessDenied" || code == "Unauthorized"):
		hint = f.checkSource()
	case f.anonymous && deniesCaller(code):
		hint = "requests are anonymous: give --access-key and --secret-key"
	case code == store.CodeNeedsTLS, code == "HTTP400" && !f.TLS && strings.Contains(text, "HTTPS"):
		hint = "try --tls"
	case code == "AccessDenied" && strings.Contains(text, "create bucket "):
		hint = "these keys may not create buckets (s3:CreateBucket): give them that right, or name a bucket that exists with --bucket"
	case deniesCaller(code):
		hint = "check --access-key and --secret-key"
	case code == "ExpiredToken", code == "InvalidToken", code == "InvalidTokenId":
		hint = "check --session-token"
	case code == "RequestTimeTooSkewed":
		hint = "set the clock of the machine that sent the request"
	case f.ownAPI() && code == "HTTP400":
		hint = "check " + cmp.Or(f.hostFrom, "--host") + " and its port"
	case code == "HTTP400" && strings.ContainsFunc(strings.Join(f.Buckets, ""), oldLetter):
		hint = "check --region, and --bucket: most stores want lower-case letters, digits, dots and hyphens"
	case code == "HTTP400", code == "AuthorizationHeaderMalformed", code == "InvalidRegion", code == "IllegalLocationConstraintException":
		hint = "check --region"
	case code == store.CodeRedirect && strings.Contains(text, "--redirect-hosts="):
		// which is what to do
	case code == store.CodeRedirect, code == "PermanentRedirect", code == "TemporaryRedirect":
		hint = "check --host and --region"
	case code == store.CodeNoHTTP2:
		hint = "leave out --http2"
	case code == store.CodeTLS && containsAny(text, "does not look like a TLS handshake", "HTTP response to HTTPS client"):
		hint = "the store answers without TLS: " + f.withoutTLS()
	case code == store.CodeTLS && strings.Contains(text, "certificate required"):
		hint = "the store wants to see a certificate: give --client-cert and --client-key"
	case code == store.CodeTLS && strings.Contains(text, "certificate has expired"):
		hint = "renew the store's certificate, set the clock of the machine that sent the request, or accept any certificate with --insecure"
	case code == store.CodeTLS:
		hint = "check --tls, and --ca-file or --insecure for a private certificate"
	case errors.As(err, &nobody):
		elsewhere := f.Elsewhere
		if f.ownAPI() { // which the embedded store does not speak
			elsewhere = ""
		}
		return exit.Errorf("%v", nobody).WithHint("start a store there, or name another with --host%s", elsewhere)
	}
	if hint == "" {
		return err
	}
	return exit.Errorf("%w", err).WithHint("%s", hint)
}

// OrEmbedded is the end of a hint for users without a store.
const OrEmbedded = ", or try warp without one: --host=embedded --obj.size=64KiB --duration=10s"

// silence is the time without an answer after which NoteSilence notes it.
const silence = 3 * time.Second

// NoteSilence prints a note if the store answers nothing for a while before stop is called.
func (f *Flags) NoteSilence(con *console.Console, client *store.Client) (stop func()) {
	said := make(chan struct{})
	t := time.AfterFunc(silence, func() {
		defer close(said)
		if client.HasAnswered() {
			return
		}
		con.Notef("no successful answer from %s for %s; the timeout of a request is %s (Ctrl-C ends this)", f.Host, silence, store.AdminTimeout)
	})
	return func() {
		if !t.Stop() {
			<-said
		}
	}
}
