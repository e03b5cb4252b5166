// Package credentials finds the credentials to talk to a store with: those given to warp, of the AWS environment, of AWS
// profiles, of instance metadata, or in exchange for a web token.
package credentials

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// Options say where credentials may come from.
type Options struct {
	// Access, Secret and Session are those given to warp itself, by flag or WARP_* variable.
	Access, Secret, Session string
	// Profile is one that was asked for by flag; "" leaves it to AWS_PROFILE.
	Profile string
	// Signature is S3V4 (or ""), S3V2, IAM or STS_WEB_TOKEN.
	Signature string
	// WebToken is the token for STS_WEB_TOKEN, or "file:path", and STSEndpoint the URL that exchanges it.
	WebToken, STSEndpoint string
	// MetadataEndpoint replaces the address of the instance metadata service for IAM.
	MetadataEndpoint string
	// Client sends the requests for STS_WEB_TOKEN, with the TLS settings of the store; nil: the usual ones.
	Client *http.Client
	// Getenv and Home are the process's own environment, or what a test has instead.
	Getenv func(string) string
	Home   string
}

// Resolved are ready for use, and say where they are from, which is no secret.
type Resolved struct {
	store.Credentials
	Source string
}

// metadataTimeout bounds each request for credentials. The service is next door or does not exist.
const metadataTimeout = 5 * time.Second

// Resolve takes the first source that has credentials: what was given to warp, a profile named by flag,
// the AWS environment, the shared AWS files. With none of them requests are anonymous, which is what a public
// bucket needs; another store's refusal then names the reason, and Source has it too.
//
// Instance metadata is asked only with the signature IAM and a web token exchanged only with STS_WEB_TOKEN, and
// then nothing else is looked at: who asks for them does not want to run under other credentials by accident.
func Resolve(ctx context.Context, o Options) (Resolved, error) {
	switch strings.ToUpper(o.Signature) {
	case "", "S3V4":
		return o.static("")
	case "S3V2":
		return o.static(s3.SignV2)
	case "IAM":
		return fetch(ctx, o.iam(), "instance metadata")
	case "STS_WEB_TOKEN":
		provider, err := o.webToken()
		if err != nil {
			return Resolved{}, err
		}
		creds, err := fetch(ctx, provider, "web token")
		return creds, o.explainExchange(err)
	}
	return Resolved{}, fmt.Errorf("unknown signature %q: use S3V4, S3V2, IAM or STS_WEB_TOKEN", o.Signature)
}

func (o Options) static(signature string) (Resolved, error) {
	keys, source, err := o.findKeys()
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{
		Credentials: store.Keys{AccessKey: keys.access, SecretKey: keys.secret, SessionToken: keys.session, Signature: signature},
		Source:      source,
	}, nil
}

type keyPair struct{ access, secret, session string }

// check refuses half a pair: it would end in a refusal by the store that explains nothing.
func (k keyPair) check(source, access, secret string) error {
	switch {
	case k.access != "" && k.secret == "":
		return fmt.Errorf("credentials from %s: %s is given without %s", source, access, secret)
	case k.access == "" && k.secret != "":
		return fmt.Errorf("credentials from %s: %s is given without %s", source, secret, access)
	case k.access == "" && k.session != "":
		return fmt.Errorf("credentials from %s: a session token is given without %s and %s", source, access, secret)
	}
	return nil
}

func (o Options) findKeys() (keys keyPair, source string, err error) {
	own := keyPair{o.Access, o.Secret, o.Session}
	if own != (keyPair{}) {
		const source = "flags or WARP_* variables"
		return own, source, own.check(source, "--access-key (WARP_ACCESS_KEY)", "--secret-key (WARP_SECRET_KEY)")
	}
	environment := keyPair{o.Getenv("AWS_ACCESS_KEY_ID"), o.Getenv("AWS_SECRET_ACCESS_KEY"), o.Getenv("AWS_SESSION_TOKEN")}
	if o.Profile == "" && environment != (keyPair{}) {
		const source = "the AWS environment"
		return environment, source, environment.check(source, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
	}
	return o.profileKeys()
}

// profileKeys reads the profile from the shared files. One that was named must be there; "default" need not.
func (o Options) profileKeys() (keyPair, string, error) {
	name, named := o.Profile, true
	if name == "" {
		name = o.Getenv("AWS_PROFILE")
	}
	if name == "" {
		name, named = "default", false
	}
	source := "AWS profile " + name
	profile, err := o.readProfile(name)
	if err != nil {
		return keyPair{}, "", err
	}
	keys := keyPair{profile["aws_access_key_id"], profile["aws_secret_access_key"], profile["aws_session_token"]}
	switch {
	case keys != (keyPair{}):
		return keys, source, keys.check(source, "aws_access_key_id", "aws_secret_access_key")
	case profile == nil && named:
		return keyPair{}, "", fmt.Errorf("%s is neither in %s nor in %s", source, o.credentialsFile(), o.configFile())
	case named || usesOtherMeans(profile):
		return keyPair{}, "", fmt.Errorf("%s has no access key in it; if it logs in by other means, run "+
			"eval \"$(aws configure export-credentials --profile %s --format env)\" first", source, name)
	}
	return keyPair{}, "nowhere (anonymous requests)", nil
}

// usesOtherMeans tells whether a profile gets credentials in one of the ways that only AWS's own tools know.
func usesOtherMeans(profile map[string]string) bool {
	for _, key := range []string{"sso_session", "sso_start_url", "credential_process", "role_arn"} {
		if profile[key] != "" {
			return true
		}
	}
	return false
}

func (o Options) credentialsFile() string {
	return o.sharedFile("AWS_SHARED_CREDENTIALS_FILE", "credentials")
}

func (o Options) configFile() string { return o.sharedFile("AWS_CONFIG_FILE", "config") }

// iam leaves tasks and pods, which have variables of their own, to minio-go; the address of the instance metadata
// service is not meant for them.
func (o Options) iam() *credentials.IAM {
	p := &credentials.IAM{Endpoint: o.MetadataEndpoint}
	p.Container.CredentialsRelativeURI = o.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
	p.Container.CredentialsFullURI = o.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	p.EKSIdentity.TokenFile = o.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	onInstance := p.Container.CredentialsRelativeURI == "" && p.Container.CredentialsFullURI == "" && p.EKSIdentity.TokenFile == ""
	if p.Endpoint == "" && onInstance {
		p.Endpoint = o.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	}
	p.Endpoint = strings.TrimRight(p.Endpoint, "/")
	if p.Endpoint != "" {
		p.Endpoint += p.Container.CredentialsRelativeURI
	}
	return p
}

func (o Options) webToken() (credentials.Provider, error) {
	if o.WebToken == "" {
		return nil, errors.New("signature STS_WEB_TOKEN needs --sts-web-token")
	}
	client := http.Client{Timeout: metadataTimeout}
	if o.Client != nil {
		client = *o.Client
	}
	client.CheckRedirect = stayHere
	return &credentials.STSWebIdentity{
		Client:      &client,
		STSEndpoint: o.STSEndpoint,
		GetWebIDTokenExpiry: func() (*credentials.WebIdentityToken, error) {
			path, isFile := strings.CutPrefix(o.WebToken, "file:")
			if !isFile {
				return &credentials.WebIdentityToken{Token: o.WebToken}, nil
			}
			token, err := os.ReadFile(path) // each time: whoever provides it renews it
			return &credentials.WebIdentityToken{Token: strings.TrimSpace(string(token))}, err
		},
	}, nil
}

// stayHere keeps a client from following redirects: who is asked for credentials was chosen, and another host must not
// be sent the token.
func stayHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// explainExchange names who was asked for credentials: it is the store itself, unless somebody chose otherwise, and
// most stores exchange no tokens.
func (o Options) explainExchange(err error) error {
	var syntax *xml.SyntaxError
	var unreadable xml.UnmarshalError
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, io.EOF), errors.As(err, &syntax), errors.As(err, &unreadable):
		return fmt.Errorf("credentials from web token: what %s says is no answer of a token service; AWS_ENDPOINT_URL_STS may name another", o.STSEndpoint)
	}
	return fmt.Errorf("%w (%s was asked to exchange it)", err, o.STSEndpoint)
}

// fetch asks once before the run, which would otherwise consist of failed requests. minio-go's own requests for
// renewal go through the same client.
func fetch(ctx context.Context, provider credentials.Provider, source string) (Resolved, error) {
	c := credentials.New(withClient{provider, &http.Client{Timeout: metadataTimeout, Transport: direct(), CheckRedirect: stayHere}})
	_, err := c.GetWithContext(&credentials.CredContext{Context: ctx})
	if err != nil {
		return Resolved{}, fmt.Errorf("credentials from %s: %w", source, err)
	}
	return Resolved{Credentials: renewed{c}, Source: source}, nil
}

// Renewed credentials are fetched again by minio-go before they expire.
type renewed struct{ *credentials.Credentials }

func (r renewed) Keys(ctx context.Context) (store.Keys, error) {
	v, err := r.GetWithContext(&credentials.CredContext{Context: ctx})
	return store.Keys{AccessKey: v.AccessKeyID, SecretKey: v.SecretAccessKey, SessionToken: v.SessionToken, Expires: v.Expiration}, err
}

// direct is a transport without proxy: metadata is served to this machine alone.
func direct() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	return t
}

// A withClient asks for credentials with a client of its own: the one that minio-go would use is the client of the
// benchmark, whose connections and traces are not for this.
type withClient struct {
	credentials.Provider
	client *http.Client
}

func (w withClient) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	own := credentials.CredContext{Client: w.client}
	if cc != nil {
		own.Context = cc.Context
	}
	return w.Provider.RetrieveWithCredContext(&own)
}

func (w withClient) Retrieve() (credentials.Value, error) { return w.RetrieveWithCredContext(nil) }

// sharedFile is the path of one of AWS's files: as the variable says, or its usual place.
func (o Options) sharedFile(variable, name string) string {
	if path := o.Getenv(variable); path != "" {
		return path
	}
	return filepath.Join(o.Home, ".aws", name)
}

// readProfile merges what both files say about a profile; the credentials file prevails. It returns nil if neither
// knows the profile. A file that does not exist is an empty one.
func (o Options) readProfile(name string) (map[string]string, error) {
	var profile map[string]string
	for _, file := range []struct {
		path     string
		sections []string
	}{
		{o.configFile(), []string{"profile " + name, name}},
		{o.credentialsFile(), []string{name}},
	} {
		text, err := os.ReadFile(file.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("credentials of AWS profile %s: %w", name, err)
		}
		found, err := readSections(string(text), file.sections)
		if err != nil {
			return nil, fmt.Errorf("AWS file %s: %w", file.path, err)
		}
		profile = mergeProfile(profile, found)
	}
	return profile, nil
}

// mergeProfile adds settings that prevail. Keys belong together: a session token is not carried over to other keys.
func mergeProfile(profile, prevail map[string]string) map[string]string {
	if profile == nil {
		return prevail
	}
	secrets := []string{"aws_access_key_id", "aws_secret_access_key", "aws_session_token"}
	if slices.ContainsFunc(secrets, func(key string) bool { return prevail[key] != "" }) {
		for _, key := range secrets {
			delete(profile, key)
		}
	}
	maps.Copy(profile, prevail)
	return profile
}

// readSections returns the settings of the named sections, nil if there is none. General INI libraries expand
// variables, unquote and cut comments inside values, which breaks secrets, and quote the offending line in errors,
// which shows them; these files need none of that.
func readSections(text string, names []string) (map[string]string, error) {
	var found map[string]string
	wanted := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		nested := line[0] == ' ' || line[0] == '\t'
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';' || nested:
		case line[0] == '[':
			name, _, closed := strings.Cut(line[1:], "]")
			if !closed {
				return nil, fmt.Errorf("line %d: the name of a section has no ]", number)
			}
			wanted = slices.Contains(names, strings.Join(strings.Fields(name), " "))
			if wanted && found == nil {
				found = map[string]string{}
			}
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				return nil, fmt.Errorf("line %d is neither a [section] nor a setting with =", number)
			}
			if wanted {
				found[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
			}
		}
	}
	return found, nil
}

// ReadFile reads a file with one pair of keys in each line, as
// ACCESS:SECRET or ACCESS:SECRET:TOKEN, or with blanks instead of the colons.
// Empty lines and those that begin with # are left out. Errors name lines, and
// nothing that is in them.
func ReadFile(path, signature string) ([]store.Credentials, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if signature != s3.SignV2 {
		signature = ""
	}
	var all []store.Credentials
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) == 1 {
			fields = strings.SplitN(line, ":", 3)
		}
		if len(fields) < 2 || len(fields) > 3 || slices.Contains(fields, "") {
			return nil, fmt.Errorf("line %d is not ACCESS:SECRET or ACCESS:SECRET:TOKEN", number)
		}
		fields = append(fields, "") // no token
		all = append(all, store.Keys{AccessKey: fields[0], SecretKey: fields[1], SessionToken: fields[2], Signature: signature})
	}
	if len(all) == 0 {
		return nil, errors.New("there are no credentials in it")
	}
	return all, nil
}
