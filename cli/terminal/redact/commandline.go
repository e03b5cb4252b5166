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

// secretFlags are the flags whose values nobody may see. An access key is a
// name, and no secret.
func secretFlags() []string {
	return []string{"secret-key", "session-token", "access-token", "sts-web-token", "influxdb"}
}

// secretVariables are environment variables that carry such values.
func secretVariables() []string {
	return []string{
		"WARP_SECRET_KEY", "WARP_SESSION_TOKEN", "WARP_ACCESS_TOKEN", "WARP_STS_WEB_TOKEN", "WARP_CLIENT_TOKEN", "WARP_INFLUXDB_CONNECT",
		"WARP_UPLOAD_SECRET_KEY", "WARP_UPLOAD_SESSION_TOKEN",
		"AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN",
		"AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_CLIENT_SECRET", "AIS_AUTHN_TOKEN",
	}
}

// secretHeaders are the headers of requests that carry such values.
func secretHeaders() []string {
	return []string{"Authorization", "X-Amz-Security-Token", "X-Amz-Server-Side-Encryption-Customer-Key"}
}

// HasURL reports whether the value of a flag may be a URL with a password.
func HasURL(name string) bool {
	return slices.Contains([]string{"host", "s3endpoint", "base-uri", "influxdb", "pushgateway", "upload", "statsd", "metrics"}, name)
}

// IsSecret reports whether name is a secret flag or looks like somebody's
// attempt to spell one: a wrong flag is refused, but its value is a secret all
// the same.
func IsSecret(name string) bool {
	if name == "token-file" || name == "tokenfile" || name == "credentials-file" {
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
			if !hasValue {
				i++
				value = args[i]
			}
			inside, shown := secretsInCommand(value)
			secrets = append(secrets, inside...)
			clean[i] = strings.TrimSuffix(args[i], value) + shown
		case !ok || !IsSecret(name):
		case glued(name) != "": // --secret-keyVALUE: the = was forgotten
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

// IsCommand reports whether the value of a flag is a command line itself.
func IsCommand(name string) bool { return name == "a" || name == "b" }

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

// hiddenValue returns the text that replaces the value of a secret flag. Where
// the numbers of a run were sent is worth knowing, the token is not.
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

// Args returns args as they may be recorded: without the values of
// secret flags, without passwords in URLs, and without these values where they
// occur elsewhere.
func Args(args []string) []string {
	secrets, clean := secretsIn(args)
	r := &Redactor{}
	r.Add(secrets...)
	r.addUsers(passwordsIn(args)...)
	r.addSignatures(args...)
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
