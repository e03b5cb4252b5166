package redact

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Redactor removes known secrets from everything that leaves the process. A secret
// is hidden as the value of its flag, variable or header. Elsewhere it is hidden
// only if it is not an ordinary word: a key "get" must not turn every message
// into stars.
type Redactor struct {
	mu      sync.Mutex
	secrets []hiddenText // longest first, because one may contain another
	users   []string     // text before the @ of URLs
}

type hiddenText struct {
	text  string
	value *regexp.Regexp // matches the secret after one of its names
}

const (
	minSecret = 8  // a shorter secret may be an ordinary word
	minChance = 20 // a secret of this length is not part of another word by chance
)

// New returns a Redactor that knows the secrets of a command line and of the environment.
func New(args []string, env func(name string) (value string, ok bool)) *Redactor {
	r := &Redactor{}
	r.addArgs(args)
	for _, name := range secretVariables() {
		if v, ok := env(name); ok {
			r.Add(v)
		}
	}
	for _, name := range []string{"WARP_HOST", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_SAS_TOKEN"} {
		if v, ok := env(name); ok {
			r.AddURL(v)
		}
	}
	return r
}

// addArgs adds the secrets of a command line, and returns a copy of it without the values of secret flags.
func (r *Redactor) addArgs(args []string) (clean []string) {
	secrets, clean := secretsIn(args)
	r.Add(secrets...)
	r.addUsers(passwordsIn(args)...)
	r.addSignatures(args...)
	return clean
}

// Add adds secrets, for instance from a credentials file.
func (r *Redactor) Add(secrets ...string) {
	r.mu.Lock()
	for _, s := range secrets {
		for _, form := range encodings(s) {
			known := func(old hiddenText) bool { return old.text == form }
			if form != "" && !slices.ContainsFunc(r.secrets, known) {
				r.secrets = append(r.secrets, hiddenText{form, valuePattern(form)})
			}
		}
	}
	slices.SortStableFunc(r.secrets, func(a, b hiddenText) int { return len(b.text) - len(a.text) })
	r.mu.Unlock()
	for _, s := range secrets {
		r.addUsers(userOf(s))
	}
}

// encodings returns the forms in which warp sends a secret: unchanged, in a URL, and in Base64.
func encodings(secret string) []string {
	inBase64 := base64.StdEncoding.EncodeToString([]byte(secret))
	form := url.QueryEscape(secret)
	return []string{secret, form, strings.ReplaceAll(form, "+", "%20"), url.PathEscape(secret), inBase64, url.QueryEscape(inBase64)}
}

// AddURL adds the user and the password of a URL, if it has them, and the secret of a shared access signature.
func (r *Redactor) AddURL(s string) {
	r.addUsers(userOf(s))
	r.addSignatures(s)
}

// signature matches the secret in a shared access signature or in a connection string of Azure.
var signature = regexp.MustCompile(`(?i)(?:\b|%3f|%26)(?:sig|AccountKey)=([^&;,\s"']+)`)

func (r *Redactor) addSignatures(texts ...string) {
	for _, text := range texts {
		for _, found := range signature.FindAllStringSubmatch(text, -1) {
			r.Add(found[1])
			if plain, err := url.QueryUnescape(found[1]); err == nil {
				r.Add(plain)
			}
		}
	}
}

// addUsers adds the text before the @ of a URL: a user and a password, or a token.
func (r *Redactor) addUsers(users ...string) {
	for _, user := range users {
		if user == "" {
			continue
		}
		r.mu.Lock()
		if !slices.Contains(r.users, user) {
			r.users = append(r.users, user)
		}
		r.mu.Unlock()
		_, password, found := strings.Cut(user, ":")
		if !found {
			password = user
		}
		r.Add(user) // Basic authentication sends its Base64
		if plain, err := url.PathUnescape(user); err == nil {
			r.Add(plain)
		}
		r.Add(password)
		if plain, err := url.PathUnescape(password); err == nil {
			r.Add(plain)
		}
	}
}

// userOf returns the user information of a value that is a URL. It includes a
// password that should have been escaped.
func userOf(s string) string {
	_, rest, _ := strings.Cut(s, "://")
	if at := strings.LastIndexByte(rest, '@'); at > 0 {
		return rest[:at]
	}
	return ""
}

// valuePattern matches a secret as the value of a flag, a variable or a header.
func valuePattern(secret string) *regexp.Regexp {
	var names []string
	for _, name := range slices.Concat(secretFlags(), secretVariables(), secretHeaders()) {
		names = append(names, regexp.QuoteMeta(name))
	}
	return regexp.MustCompile(`(?i)\b((?:` + strings.Join(names, "|") + `)["']?(?:=|:?\s+|:)["']?(?:(?:Bearer|Token|Basic) )?)` + regexp.QuoteMeta(secret) + `(["'\s,;&]|$)`)
}

// signatures matches the signature of a request that somebody echoes, in its query or its headers. Until it expires it
// is as good as a key. Values of flags are shorter.
var signatures = regexp.MustCompile(`((?i:X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature|\bSignature|(?:\b|%3f|%26)sig)["']?(?:=|%3[dD]|:\s*)["']?)[A-Za-z0-9+/=%._~-]{20,}`)

// authorization matches the header with the credentials of a request.
var authorization = regexp.MustCompile(`((?i:Authorization)["']?(?:=|:\s*)\[?["']?(?i:Basic|Bearer|Token|SharedKey|AWS)\s+(?:[A-Za-z0-9]+:)?)[^\s"',;\]]+`)

// userinfo matches the text before the @ of a URL's host.
var userinfo = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#]+@`)

// Text returns s without the secrets.
func (r *Redactor) Text(s string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, user := range r.users {
		s = strings.ReplaceAll(s, "://"+user+"@", "://"+Mark+"@")
	}
	for _, secret := range r.secrets {
		if !strings.Contains(s, secret.text) {
			continue
		}
		s = secret.value.ReplaceAllString(s, "${1}"+Mark+"${2}")
		s = replaceSecret(s, secret.text)
	}
	s = signatures.ReplaceAllString(s, "${1}"+Mark)
	s = authorization.ReplaceAllString(s, "${1}"+Mark)
	return userinfo.ReplaceAllStringFunc(s, func(found string) string {
		scheme, who, _ := strings.Cut(found, "://")
		if who == "TOKEN@" { // a hint at what to write
			return found
		}
		return scheme + "://" + Mark + "@"
	})
}

// replaceSecret replaces secret in s where it is a whole word. A long secret,
// which cannot occur by chance, is replaced everywhere.
func replaceSecret(s, secret string) string {
	switch {
	case len(secret) < minSecret:
		return s
	case len(secret) >= minChance:
		return strings.ReplaceAll(s, secret, Mark)
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
		if startsWord(s, begin) && endsWord(s, end) {
			b.WriteString(Mark)
		} else {
			b.WriteString(secret)
		}
		from = end
	}
}

// startsWord reports whether a word or a name starts at i.
func startsWord(s string, i int) bool { return i == 0 || !inName(s[i-1]) }

// endsWord reports whether a word or a name ends at i. A name may
// have a dot inside, and a sentence has one at its end.
func endsWord(s string, i int) bool {
	return i == len(s) || !inName(s[i]) || s[i] == '.' && (i+1 == len(s) || !inName(s[i+1]))
}

func inName(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}
