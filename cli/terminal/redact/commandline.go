// Package redact keeps secrets out of whatever leaves the process: it finds them in command lines and in the
// environment, and takes them out of text.
package redact

import (
	"slices"
	"strings"

	shellquote "github.com/kballard/go-shellquote"

	"warp/internal/suggest"
)

// Mark replaces hidden text.
const Mark = "***"

// secretFlags returns the flags whose values are secrets. An access key is not
// a secret, but a name.
func secretFlags() []string {
	return []string{"secret-key", "session-token", "access-token", "sts-web-token", "influxdb"}
}

// secretVariables returns the environment variables whose values are secrets.
func secretVariables() []string {
	return []string{
		"WARP_SECRET_KEY", "WARP_SESSION_TOKEN", "WARP_ACCESS_TOKEN", "WARP_STS_WEB_TOKEN", "WARP_CLIENT_TOKEN", "WARP_INFLUXDB_CONNECT",
		"WARP_UPLOAD_SECRET_KEY", "WARP_UPLOAD_SESSION_TOKEN",
		"AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN",
		"AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_CLIENT_SECRET", "AIS_AUTHN_TOKEN",
	}
}

// secretHeaders returns the headers of requests whose values are secrets.
func secretHeaders() []string {
	return []string{"Authorization", "X-Amz-Security-Token", "X-Amz-Server-Side-Encryption-Customer-Key"}
}

// HasURL reports whether the value of a flag may be a URL with a password.
func HasURL(name string) bool {
	return slices.Contains([]string{"host", "s3endpoint", "base-uri", "influxdb", "pushgateway", "upload", "statsd", "metrics"}, name)
}

// IsSecret reports whether name is a secret flag or a misspelled one. Unknown
// flags are errors, but the value in the message may still be a secret.
func IsSecret(name string) bool {
	if name == "token-file" || name == "tokenfile" || name == "credentials-file" {
		return false // the name of the file that has the secret
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

// glued returns the text directly after the name of a secret flag.
func glued(name string) string {
	for _, secret := range secretFlags() {
		if rest, ok := strings.CutPrefix(name, secret); ok {
			return rest
		}
	}
	return ""
}

// SplitFlag splits a flag into name and value; ok is false for anything else.
func SplitFlag(arg string) (name, value string, hasValue, ok bool) {
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
		name, value, hasValue, ok := SplitFlag(args[i])
		switch {
		case ok && IsCommand(name) && (hasValue || i+1 < len(args)):
			at := i
			if !hasValue {
				at, value = i+1, args[i+1] // which is looked at next, too: -h has no value
			}
			inside, shown := secretsInCommand(value)
			secrets = append(secrets, inside...)
			clean[at] = strings.TrimSuffix(args[at], value) + shown
		case !ok || !IsSecret(name):
		case glued(name) != "": // --secret-keyVALUE, without the =
			rest := args[i][strings.Index(args[i], glued(name)):]
			secrets = append(secrets, glued(name), rest)
			clean[i] = strings.TrimSuffix(args[i], rest) + Mark
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

// IsCommand reports whether the value of a flag is a command line itself, one of the sides of warp ab.
func IsCommand(name string) bool { return len(name) == 1 && name >= "a" && name <= "h" }

// secretsInCommand finds the secrets in a command line that is a single word. A
// command line that cannot be parsed is hidden as a whole.
func secretsInCommand(text string) (secrets []string, clean string) {
	words, err := shellquote.Split(text)
	if err != nil {
		return []string{text}, Mark
	}
	secrets, words = secretsIn(words)
	return secrets, Quote(words)
}

// passwordsIn returns the text before the @ in the values of flags that may be URLs.
func passwordsIn(args []string) (users []string) {
	for i, arg := range args {
		name, value, hasValue, ok := SplitFlag(arg)
		if !ok || !HasURL(name) && !IsCommand(name) {
			continue
		}
		if !hasValue && i+1 < len(args) {
			value = args[i+1]
		}
		if IsCommand(name) {
			words, _ := shellquote.Split(value)
			users = append(users, passwordsIn(words)...)
			continue
		}
		users = append(users, userOf(value))
	}
	return users
}

// hiddenValue returns the text that replaces the value of a secret flag. The host
// that receives metrics stays; its token is hidden.
func hiddenValue(name, value string) string {
	if strings.HasPrefix(name, "inf") {
		if at := strings.LastIndexByte(value, '@'); at >= 0 {
			scheme, _, found := strings.Cut(value, "://")
			if found {
				return scheme + "://" + Mark + value[at:]
			}
		}
	}
	return Mark
}

// Args returns args without secrets, so that they can be recorded: without the
// values of secret flags and passwords in URLs, wherever they occur.
func Args(args []string) []string {
	r := &Redactor{}
	clean := r.addArgs(args)
	for i := range clean {
		clean[i] = r.Text(clean[i])
	}
	return clean
}

// Quote writes args so that a shell reads them again.
func Quote(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = arg
		if arg == "" || strings.ContainsAny(strings.ReplaceAll(arg, Mark, ""), " \t\n\"'`$&|;<>()*?[]#~!{}\\") {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
