// Package credentials finds the credentials for a store: those given to warp, in the AWS
// environment, in AWS profiles, from instance metadata, or in exchange for a web token.
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
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/redirects"
	"warp/internal/wholefile"
	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// Options say where credentials may come from.
type Options struct {
	// Access, Secret and Session are given to warp itself, by flag or WARP_* variable.
	Access, Secret, Session string
	// Profile is the profile set by flag; "" leaves it to AWS_PROFILE.
	Profile string
	// Signature is S3V4 (or ""), S3V2, IAM or STS_WEB_TOKEN.
	Signature string
	// WebToken is the token for STS_WEB_TOKEN, or "file:path". STSEndpoint is the URL that
	// exchanges it.
	WebToken, STSEndpoint string
	// MetadataEndpoint replaces the address of the instance metadata service for IAM.
	MetadataEndpoint string
	// Client sends the requests for STS_WEB_TOKEN, with the TLS settings of the store; nil = the
	// default client.
	Client *http.Client
	// Getenv and Home are the environment of the process, or of a test.
	Getenv func(string) string
	Home   string
}

// A Resolved contains credentials that are ready for use, and their source, which is not secret.
type Resolved struct {
	store.Credentials
	Source string
}

// exchangeTimeout limits each exchange of a token, with an answer that arrives slowly.
const exchangeTimeout = 30 * time.Second

// metadataTimeout limits each request for credentials. The service is close or does not exist.
const metadataTimeout = 5 * time.Second

// Resolve uses the first source that has credentials: those given to warp, a profile set by flag,
// the AWS environment, the shared AWS files. Without any, requests are anonymous, which is enough
// for a public bucket. If another store then rejects them, its error says why, and so does Source.
//
// Resolve uses instance metadata only with the signature IAM, and exchanges a web token only with
// STS_WEB_TOKEN. It then tries no other source, so that a run does not use different credentials by
// accident.
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

// check rejects an incomplete pair, because the store's error would not explain it.
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

// profileKeys reads the profile from the shared files. A profile set by the user has to exist;
// "default" need not.
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

// usesOtherMeans reports whether a profile gets credentials in a way that only AWS's own tools
// support.
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

// iam leaves tasks and pods, which have their own variables, to minio-go. The address of the
// instance metadata service is not meant for them.
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
	var client http.Client
	if o.Client != nil {
		client = *o.Client
	}
	client.Timeout, client.CheckRedirect = exchangeTimeout, redirects.Refuse
	return &credentials.STSWebIdentity{
		Client:      &client,
		STSEndpoint: o.STSEndpoint,
		GetWebIDTokenExpiry: func() (*credentials.WebIdentityToken, error) {
			path, isFile := strings.CutPrefix(o.WebToken, "file:")
			if !isFile {
				return &credentials.WebIdentityToken{Token: o.WebToken}, nil
			}
			token, err := wholefile.Read(path, wholefile.Small) // each time, because the token is renewed
			return &credentials.WebIdentityToken{Token: strings.TrimSpace(string(token))}, err
		},
	}, nil
}

// explainExchange names the host that was asked for credentials. By default that is the store
// itself, and most stores do not exchange tokens.
func (o Options) explainExchange(err error) error {
	var syntax *xml.SyntaxError
	var unreadable xml.UnmarshalError
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, io.EOF), errors.As(err, &syntax), errors.As(err, &unreadable):
		return fmt.Errorf("credentials from web token: %s does not answer like a token service; set AWS_ENDPOINT_URL_STS to one that does", o.STSEndpoint)
	}
	return fmt.Errorf("%w (%s was asked to exchange it)", err, o.STSEndpoint)
}

// fetch fetches the credentials once before the run, so that a failure does not become a run of
// failed requests. minio-go renews them with the same client.
func fetch(ctx context.Context, provider credentials.Provider, source string) (Resolved, error) {
	c := credentials.New(withClient{provider, &http.Client{Timeout: metadataTimeout, Transport: direct(), CheckRedirect: redirects.Refuse}})
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

// direct is a transport without proxy, because the metadata service serves only this machine.
func direct() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	return t
}

// A withClient fetches credentials with a separate client. minio-go would use the client of the
// benchmark, whose connections and traces are for the load.
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

// sharedFile returns the path of one of AWS's files: from the variable, or the default.
func (o Options) sharedFile(variable, name string) string {
	if path := o.Getenv(variable); path != "" {
		return path
	}
	return filepath.Join(o.Home, ".aws", name)
}

// readProfile merges the settings of a profile in both files; the credentials file takes
// precedence. It returns nil if neither has the profile. A missing file counts as empty.
func (o Options) readProfile(name string) (map[string]string, error) {
	var profile map[string]string
	for _, file := range []struct {
		path     string
		sections []string
	}{
		{o.configFile(), []string{"profile " + name, name}},
		{o.credentialsFile(), []string{name}},
	} {
		text, err := wholefile.Read(file.path, wholefile.Small)
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

// mergeProfile adds settings that take precedence. Keys belong together: a session token is not
// combined with other keys.
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

// readSections returns the settings of the named sections, or nil if there are none. General INI
// libraries expand variables, unquote values and cut comments inside them, which breaks secrets.
// They also quote the wrong line in errors, which exposes secrets. These files need none of that.
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

// ReadFile reads a file with one pair of keys in each line, as ACCESS:SECRET or
// ACCESS:SECRET:TOKEN, or with blanks instead of the colons. It skips empty lines and lines that
// begin with #. Errors contain the number of a line, but nothing from it.
func ReadFile(path, signature string) ([]store.Credentials, error) {
	text, err := wholefile.Read(path, wholefile.Small)
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
