package gcs

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"warp/pkg/store"
	"warp/pkg/store/tokens"
)

// scope is the permission that tokens need: warp reads, writes, and makes buckets.
const scope = "https://www.googleapis.com/auth/devstorage.full_control"

// newTokens returns the source of tokens in cfg.
func newTokens(cfg *store.Config) (*tokens.Source, error) {
	b := &cfg.Bearer
	switch {
	case b.Token != "":
		return tokens.Static(b.Token), nil
	case len(b.File) > 0:
		kind, _, err := readFile(b.File)
		if err != nil {
			return nil, err
		}
		data := b.File
		return tokens.New(func(ctx context.Context) (*oauth2.Token, error) {
			c, err := google.CredentialsFromJSONWithType(ctx, data, google.CredentialsType(kind), scope)
			if err != nil {
				return nil, err
			}
			return c.TokenSource.Token()
		}), nil
	case b.Metadata:
		return tokens.New(func(context.Context) (*oauth2.Token, error) { return google.ComputeTokenSource("", scope).Token() }), nil
	}
	return tokens.None(), nil
}

// readFile returns the type of the credentials in a file, and their project.
func readFile(data []byte) (kind, project string, err error) {
	var f struct {
		Type    string `json:"type"`
		Project string `json:"project_id"`
		Quota   string `json:"quota_project_id"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return "", "", errors.New("it is not valid JSON of Google's credentials")
	}
	if f.Type == "" {
		return "", "", errors.New("its JSON names no type, such as service_account")
	}
	if f.Project == "" {
		f.Project = f.Quota
	}
	return f.Type, f.Project, nil
}

// checkFile rejects a file that cannot provide tokens, before anything is sent.
func checkFile(data []byte, kind string) error {
	if _, err := google.CredentialsFromJSONWithType(context.Background(), data, google.CredentialsType(kind), scope); err != nil {
		return errors.New(store.OneLine(err.Error()))
	}
	if kind != string(google.ServiceAccount) {
		return nil
	}
	var account struct {
		Email string `json:"client_email"`
		Key   string `json:"private_key"`
	}
	if err := json.Unmarshal(data, &account); err != nil || account.Email == "" || account.Key == "" {
		return errors.New("it is not the key of a service account: client_email or private_key is missing")
	}
	block, _ := pem.Decode([]byte(account.Key))
	if block == nil {
		return errors.New("its private_key is not PEM")
	}
	if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return nil
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
		return errors.New("its private_key is damaged")
	}
	return nil
}
