package cli

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"warp/internal/suggest"
)

const redacted = "***"

// secretFlags are the flags whose values nobody may see.
func secretFlags() []string {
	return []string{"access-key", "secret-key", "session-token", "sts-web-token", "influxdb"}
}

// secretVariables are environment variables that carry such values.
func secretVariables() []string {
	return []string{
		"WARP_ACCESS_KEY", "WARP_SECRET_KEY", "WARP_SESSION_TOKEN", "WARP_STS_WEB_TOKEN", "WARP_CLIENT_TOKEN",
		uploadAccessVariable, uploadSecretVariable, uploadSessionVariable,
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN",
	}
}

// isSecretFlag reports whether name is a secret flag or looks like somebody's
// attempt to spell one: a wrong flag is refused, but its value is a secret all
// the same.
func isSecretFlag(name string) bool {
	if name == "token-file" || name == "credentials-file" {
		return false // they say where the secret is
	}
	plain := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
	for _, part := range []string{"secret", "token", "password", "passwd", "accesskey", "credential"} {
		if strings.Contains(plain, part) {
			return true
		}
	}
	if len(plain) < 3 {
		return false
	}
	return slices.ContainsFunc(secretFlags(), func(secret string) bool {
		secret = strings.ReplaceAll(secret, "-", "")
		return strings.HasPrefix(secret, plain) || suggest.EditDistance(secret, plain) <= 2
	})
}

// glued is what follows the name of a secret flag without anything between.
func glued(name string) string {
	for _, secret := range secretFlags() {
		if rest, ok := strings.CutPrefix(name, secret); ok {
			return rest
		}
	}
	return ""
}

// splitFlag takes a flag apart; ok is false for anything that is not a flag.
func splitFlag(arg string) (name, value string, hasValue, ok bool) {
	name = strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
	if len(name) == len(arg) || name == "" || !isLetter(name[0]) {
		return "", "", false, false
	}
	name, value, hasValue = strings.Cut(name, "=")
	return name, value, hasValue, true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// secretsIn returns the values of secret flags in args, and a copy of args
// without them.
func secretsIn(args []string) (secrets, clean []string) {
	clean = slices.Clone(args)
	for i := 0; i < len(args); i++ {
		name, value, hasValue, ok := splitFlag(args[i])
		switch {
		case !ok || !isSecretFlag(name):
		case glued(name) != "": // --secret-keyVALUE: the = was forgotten
			rest := args[i][strings.Index(args[i], glued(name)):]
			secrets = append(secrets, glued(name), rest)
			clean[i] = strings.TrimSuffix(args[i], rest) + redacted
		case hasValue:
			secrets = append(secrets, value)
			clean[i] = strings.TrimSuffix(args[i], value) + hiddenValue(name, value)
		case i+1 < len(args):
			i++
			secrets = append(secrets, args[i])
			clean[i] = hiddenValue(name, args[i])
		}
	}
	return secrets, clean
}

// hiddenValue is what is shown in place of the value of a secret flag. Where
// the numbers of a run were sent is worth knowing, the token is not.
func hiddenValue(name, value string) string {
	if strings.HasPrefix(name, "inf") {
		if at := strings.LastIndexByte(value, '@'); at >= 0 {
			scheme, _, found := strings.Cut(value, "://")
			if found {
				return scheme + "://" + redacted + value[at:]
			}
		}
	}
	return redacted
}

// redactArgs returns args as they may be recorded: without the values of
// secret flags, without passwords in URLs, and without these values where they
// occur elsewhere.
func redactArgs(args []string) []string {
	secrets, clean := secretsIn(args)
	r := &redactor{}
	r.add(secrets...)
	for i := range clean {
		clean[i] = r.text(clean[i])
	}
	return clean
}

// A redactor takes known secrets out of text that leaves the process.
type redactor struct {
	mu      sync.Mutex
	secrets []string // longest first, so that none is left as a rest of another
}

// newRedactor knows the secrets of a command line and of the environment.
func newRedactor(args []string, env environment) *redactor {
	r := &redactor{}
	secrets, _ := secretsIn(args)
	r.add(secrets...)
	for _, name := range secretVariables() {
		if v, ok := env(name); ok {
			r.add(v)
		}
	}
	return r
}

// add makes more values known, for instance those of a credentials file.
func (r *redactor) add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		if s == "" {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), tokenOf(s)} {
			if form != "" && !slices.Contains(r.secrets, form) {
				r.secrets = append(r.secrets, form)
			}
		}
	}
	slices.SortStableFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
}

// tokenOf is the user information of a value that is a URL.
func tokenOf(s string) string {
	_, rest, _ := strings.Cut(s, "://")
	if at := strings.LastIndexByte(rest, '@'); at > 0 {
		return rest[:at]
	}
	return ""
}

// userinfo finds what stands before the @ of a URL's host.
var userinfo = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#]+@`)

// text returns s without the secrets.
func (r *redactor) text(s string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range r.secrets {
		s = replaceSecret(s, secret)
	}
	return userinfo.ReplaceAllStringFunc(s, func(found string) string {
		scheme, who, _ := strings.Cut(found, "://")
		if who == "TOKEN@" { // a hint at what to write
			return found
		}
		return scheme + "://" + redacted + "@"
	})
}

// replaceSecret takes secret out of s. A short one is only taken out where it
// stands alone: a key "a" must not turn every message into stars.
func replaceSecret(s, secret string) string {
	if len(secret) >= 8 {
		return strings.ReplaceAll(s, secret, redacted)
	}
	var b strings.Builder
	for from := 0; ; {
		i := strings.Index(s[from:], secret)
		if i < 0 {
			b.WriteString(s[from:])
			return b.String()
		}
		begin, end := from+i, from+i+len(secret)
		b.WriteString(s[from:begin])
		if (begin == 0 || !isWord(s[begin-1])) && (end == len(s) || !isWord(s[end])) {
			b.WriteString(redacted)
		} else {
			b.WriteString(secret)
		}
		from = end
	}
}

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' }
