package azure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"warp/internal/wholefile"
	"warp/pkg/store"
	"warp/pkg/store/httpclient"
	"warp/pkg/store/tokens"
)

// An authorizer identifies the sender of requests: an account by its signatures, the issuer of a
// shared access signature, the owner of a token, or nobody.
type authorizer struct {
	clock clock
	key   *sharedKey
	sas   string // parameters
	*tokens.Source
}

func newAuthorizer(cfg *store.Config) (a *authorizer, err error) {
	var settings Settings
	if err := cfg.DecodeSettings(&settings); err != nil {
		return nil, err
	}
	a = &authorizer{sas: settings.SAS, Source: tokens.None()}
	b := &cfg.Bearer
	switch {
	case a.sas != "":
	case b.Token != "":
		a.Source = tokens.Static(b.Token)
	case b.Metadata:
		a.Source = tokens.New(func(ctx context.Context) (*oauth2.Token, error) { return askMetadata(ctx, metadataServer) })
	case len(b.File) > 0:
		var c client
		if err := json.Unmarshal(b.File, &c); err != nil {
			return nil, errors.New("these are not credentials of Entra ID")
		}
		a.Source = tokens.New(c.token)
	case cfg.Credentials != nil:
		keys, err := cfg.Credentials.Keys(context.Background())
		if err != nil || keys.Anonymous() {
			return a, err
		}
		a.key, err = newSharedKey(keys.AccessKey, keys.SecretKey)
		return a, err
	}
	return a, nil
}

// Append appends the headers that identify the sender of a request, and the version of the API.
func (a *authorizer) Append(head []byte, c *httpclient.Request) []byte {
	date := a.clock.date()
	head = append(append(append(head, "X-Ms-Date: "...), date...), "\r\nX-Ms-Version: "+apiVersion+"\r\n"...)
	if a.key != nil {
		return a.key.appendAuthorization(head, c, date, apiVersion)
	}
	return append(head, a.Header()...)
}

// appendSubrequest is Append for a request in a batch, which has no version.
func (a *authorizer) appendSubrequest(head []byte, c *httpclient.Request) []byte {
	date := a.clock.date()
	head = append(append(append(head, "x-ms-date: "...), date...), "\r\n"...)
	if a.key != nil {
		return a.key.appendAuthorization(head, c, date, "")
	}
	return append(head, a.Header()...)
}

// sign adds the shared access signature, if there is one, to the parameters of a request.
func (a *authorizer) sign(q request) {
	if a.sas != "" {
		q.Query(a.sas)
	}
}

// audience is the resource that tokens are for.
const audience = "https://storage.azure.com/"

// A client is an application registered with Entra ID. It has a secret or, in Kubernetes and
// elsewhere, a file with a token that proves its identity.
type client struct {
	Authority string `json:"authority"`
	Tenant    string `json:"tenant"`
	ID        string `json:"client"`
	Secret    string `json:"secret,omitempty"`
	TokenFile string `json:"token_file,omitempty"`
}

// useClient completes cfg with the client that the variables of Azure's libraries describe.
func useClient(getenv func(string) string, cfg *store.Config) (source string, secrets []string, err error) {
	c := client{Tenant: getenv("AZURE_TENANT_ID"), ID: getenv("AZURE_CLIENT_ID"), Secret: getenv("AZURE_CLIENT_SECRET"),
		Authority: cmp.Or(getenv("AZURE_AUTHORITY_HOST"), "https://login.microsoftonline.com")}
	switch {
	case c.Secret != "":
		source, secrets = "AZURE_CLIENT_ID and AZURE_CLIENT_SECRET", []string{c.Secret}
	case getenv("AZURE_FEDERATED_TOKEN_FILE") != "":
		source, c.TokenFile = "AZURE_FEDERATED_TOKEN_FILE", getenv("AZURE_FEDERATED_TOKEN_FILE")
		if _, err := os.Stat(c.TokenFile); err != nil {
			return "", nil, fmt.Errorf("credentials from AZURE_FEDERATED_TOKEN_FILE: %w", err)
		}
	default:
		return "", nil, errors.New("AZURE_CLIENT_ID is set without AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE")
	}
	if u, err := url.Parse(c.Authority); err != nil || u.Host == "" || u.Scheme != "https" && !tokens.Local(store.Address{Name: u.Host}) {
		return "", nil, errors.New("AZURE_AUTHORITY_HOST is not an https URL")
	}
	cfg.Bearer.File, err = json.Marshal(c)
	return source, secrets, err
}

// Portable returns an error for credentials that cannot be sent to another machine.
func Portable(cfg *store.Config) error {
	if cfg.Bearer.Metadata {
		return errors.New("the metadata server belongs to this machine: use an account's key, a shared access signature, or --access-token")
	}
	var c client
	if len(cfg.Bearer.File) > 0 && (json.Unmarshal(cfg.Bearer.File, &c) != nil || c.TokenFile != "") {
		return errors.New("AZURE_FEDERATED_TOKEN_FILE names a file of this machine: use an account's key, a shared access signature, or --access-token")
	}
	return nil
}

// token requests a token from Entra ID. It reads the file with the proof each time.
func (c *client) token(ctx context.Context) (*oauth2.Token, error) {
	cfg := clientcredentials.Config{ClientID: c.ID, ClientSecret: c.Secret, Scopes: []string{audience + ".default"}, AuthStyle: oauth2.AuthStyleInParams,
		TokenURL: strings.TrimSuffix(c.Authority, "/") + "/" + url.PathEscape(c.Tenant) + "/oauth2/v2.0/token"}
	if c.TokenFile != "" {
		proof, err := wholefile.Read(c.TokenFile, wholefile.Small)
		if err != nil {
			return nil, err
		}
		cfg.EndpointParams = url.Values{"client_assertion": {strings.TrimSpace(string(proof))},
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}}
	}
	return cfg.Token(ctx)
}

// metadataServer is where Azure machines get their identity.
const metadataServer = "http://169.254.169.254"

// askMetadata requests a token for the machine's identity from the metadata server.
func askMetadata(ctx context.Context, server string) (*oauth2.Token, error) {
	target := server + "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=" + url.QueryEscape(audience)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Metadata", "true")
	client, ok := ctx.Value(oauth2.HTTPClient).(*http.Client)
	if !ok {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &oauth2.RetrieveError{Response: resp, Body: body}
	}
	var said struct {
		Token string      `json:"access_token"`
		Lasts json.Number `json:"expires_in"`
	}
	if err := json.Unmarshal(body, &said); err != nil || said.Token == "" {
		return nil, errors.New("the metadata server answers without a token")
	}
	token := &oauth2.Token{AccessToken: said.Token}
	if seconds, err := said.Lasts.Int64(); err == nil && seconds > 0 {
		token.Expiry = time.Now().Add(time.Duration(seconds) * time.Second)
	}
	return token, nil
}
