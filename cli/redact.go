package cli

import (
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	shellquote "github.com/kballard/go-shellquote"

	"warp/internal/suggest"
)

const redacted = "***"

// secretFlags are the flags whose values nobody may see. An access key is a
// name, and no secret.
func secretFlags() []string {
	return []string{"secret-key", "session-token", "sts-web-token", "influxdb"}
}

// secretVariables are environment variables that carry such values.
func secretVariables() []string {
	return []string{
		"WARP_SECRET_KEY", "WARP_SESSION_TOKEN", "WARP_STS_WEB_TOKEN", "WARP_CLIENT_TOKEN", "WARP_INFLUXDB_CONNECT",
		uploadSecretVariable, uploadSessionVariable,
		"AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN",
	}
}

// secretHeaders are those of requests that carry such values.
func secretHeaders() []string {
	return []string{"Authorization", "X-Amz-Security-Token", "X-Amz-Server-Side-Encryption-Customer-Key"}
}

// urlFlags are flags whose values may be URLs with a password.
func urlFlags() []string {
	return []string{"host", "s3endpoint", "base-uri", "influxdb", "pushgateway", "upload", "statsd", "metrics"}
}

// isSecretFlag reports whether name is a secret flag or looks like somebody's
// attempt to spell one: a wrong flag is refused, but its value is a secret all
// the same.
func isSecretFlag(name string) bool {
	if name == "token-file" || name == "credentials-file" {
		return false // they say where the secret is
	}
	plain := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
	for _, part := range []string{"secret", "token", "password", "passwd", "credential"} {
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
		case ok && isSideFlag(name) && (hasValue || i+1 < len(args)):
			if !hasValue {
				i++
				value = args[i]
			}
			inside, shown := secretsInCommand(value)
			secrets = append(secrets, inside...)
			clean[i] = strings.TrimSuffix(args[i], value) + shown
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

// isSideFlag reports whether the value of a flag is a command line itself.
func isSideFlag(name string) bool { return name == "a" || name == "b" }

// secretsInCommand finds the secrets in a command line that is a single word. A
// command line that cannot be parsed is hidden as a whole.
func secretsInCommand(text string) (secrets []string, clean string) {
	words, err := shellquote.Split(text)
	if err != nil {
		return []string{text}, redacted
	}
	secrets, words = secretsIn(words)
	return secrets, shellLine(words)
}

// passwordsIn returns what stands before the @ in the values of flags that may be URLs.
func passwordsIn(args []string) (users []string) {
	for i, arg := range args {
		name, value, hasValue, ok := splitFlag(arg)
		if !ok || !slices.Contains(urlFlags(), name) && !isSideFlag(name) {
			continue
		}
		if !hasValue && i+1 < len(args) {
			value = args[i+1]
		}
		if isSideFlag(name) {
			words, _ := shellquote.Split(value)
			users = append(users, passwordsIn(words)...)
			continue
		}
		users = append(users, userOf(value))
	}
	return users
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
	r.addUsers(passwordsIn(args)...)
	for i := range clean {
		clean[i] = r.text(clean[i])
	}
	return clean
}

// A redactor takes known secrets out of whatever leaves the process. A secret
// is hidden as the value of its flag, variable or header, and by itself where
// it cannot be taken for a word: a key "get" must not turn every message into
// stars.
type redactor struct {
	mu      sync.Mutex
	secrets []hiddenText // longest first, so that none is left as a rest of another
	users   []string     // what stands before the @ of URLs
}

type hiddenText struct {
	text  string
	value *regexp.Regexp // finds it behind one of its names
}

const (
	minSecret = 8  // a shorter one may be any word
	minChance = 20 // one of this length is no part of another word by chance
)

// newRedactor knows the secrets of a command line and of the environment.
func newRedactor(args []string, env environment) *redactor {
	r := &redactor{}
	secrets, _ := secretsIn(args)
	r.add(secrets...)
	r.addUsers(passwordsIn(args)...)
	for _, name := range secretVariables() {
		if v, ok := env(name); ok {
			r.add(v)
		}
	}
	if v, ok := env("WARP_HOST"); ok {
		r.addUsers(userOf(v))
	}
	return r
}

// add makes more values known, for instance those of a credentials file.
func (r *redactor) add(secrets ...string) {
	r.mu.Lock()
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s)} {
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

// addUsers makes what stands before the @ of a URL known: a user and a password, or a token.
func (r *redactor) addUsers(users ...string) {
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
		r.add(password)
		if plain, err := url.PathUnescape(password); err == nil {
			r.add(plain)
		}
	}
}

// userOf is the user information of a value that is a URL. A password that
// should have been escaped belongs to it.
func userOf(s string) string {
	_, rest, _ := strings.Cut(s, "://")
	if at := strings.LastIndexByte(rest, '@'); at > 0 {
		return rest[:at]
	}
	return ""
}

// valuePattern finds a secret as the value of a flag, a variable or a header.
func valuePattern(secret string) *regexp.Regexp {
	var names []string
	for _, name := range slices.Concat(secretFlags(), secretVariables(), secretHeaders()) {
		names = append(names, regexp.QuoteMeta(name))
	}
	return regexp.MustCompile(`(?i)\b((?:` + strings.Join(names, "|") + `)["']?(?:=|:?\s+|:)["']?(?:(?:Bearer|Token|Basic) )?)` + regexp.QuoteMeta(secret) + `(["'\s,;&]|$)`)
}

// userinfo finds what stands before the @ of a URL's host.
var userinfo = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/?#]+@`)

// text returns s without the secrets.
func (r *redactor) text(s string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, user := range r.users {
		s = strings.ReplaceAll(s, "://"+user+"@", "://"+redacted+"@")
	}
	for _, secret := range r.secrets {
		if !strings.Contains(s, secret.text) {
			continue
		}
		s = secret.value.ReplaceAllString(s, "${1}"+redacted+"${2}")
		s = replaceSecret(s, secret.text)
	}
	return userinfo.ReplaceAllStringFunc(s, func(found string) string {
		scheme, who, _ := strings.Cut(found, "://")
		if who == "TOKEN@" { // a hint at what to write
			return found
		}
		return scheme + "://" + redacted + "@"
	})
}

// replaceSecret takes secret out of s where it stands alone, and anywhere if
// it is so long that it cannot be there by chance.
func replaceSecret(s, secret string) string {
	switch {
	case len(secret) < minSecret:
		return s
	case len(secret) >= minChance:
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
		if startsWord(s, begin) && endsWord(s, end) {
			b.WriteString(redacted)
		} else {
			b.WriteString(secret)
		}
		from = end
	}
}

// startsWord reports whether what begins at i is no rest of a word or a name.
func startsWord(s string, i int) bool { return i == 0 || !inName(s[i-1]) }

// endsWord reports whether what ends at i is no beginning of one. A name may
// have a dot inside, and a sentence has one at its end.
func endsWord(s string, i int) bool {
	return i == len(s) || !inName(s[i]) || s[i] == '.' && (i+1 == len(s) || !inName(s[i+1]))
}

func inName(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// strings takes secrets out of all strings that v points to.
func (r *redactor) strings(v any) { changeStrings(v, r.text) }

// changeStrings changes all strings that v points to. Keys of maps and names of
// fields stay: what is made of v has the same form.
func changeStrings(v any, change func(string) string) {
	stringChanger(change).value(reflect.ValueOf(v))
}

type stringChanger func(string) string

func (c stringChanger) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			c.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.value(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if kind := v.Type().Elem().Kind(); kind >= reflect.Bool && kind <= reflect.Complex128 {
			return
		}
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			inside := reflect.New(v.Type().Elem()).Elem()
			inside.Set(v.MapIndex(key))
			c.value(inside)
			v.SetMapIndex(key, inside)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(c(v.String()))
		}
	}
}
