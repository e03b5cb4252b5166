package ais

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"warp/internal/wholefile"
	"warp/pkg/store"
	"warp/pkg/store/provider"
)

// identify completes cfg with an AuthN token from the first source that has one, and returns the
// name of that source. Without a token, requests are anonymous, as clusters without AuthN expect.
func identify(id *provider.Identity, cfg *store.Config) (source string, secrets []string, err error) {
	cfg.Credentials = store.Keys{}
	useCertificates(id.Getenv, cfg)
	var token string
	switch file := id.Getenv("AIS_AUTHN_TOKEN_FILE"); {
	case id.Access != "" || id.Metadata:
		return "", nil, errors.New("AIStore takes a token of AuthN, and no keys: use --access-token, or --credentials-file with a file that has one")
	case id.Token != "":
		source, token = "--access-token", id.Token
	case id.File != "":
		source = "--credentials-file"
		token, err = readToken(id.File)
	case id.Getenv("AIS_AUTHN_TOKEN") != "":
		source, token = "AIS_AUTHN_TOKEN", id.Getenv("AIS_AUTHN_TOKEN")
	case file != "":
		source = "AIS_AUTHN_TOKEN_FILE"
		token, err = readToken(file)
	default:
		return "nowhere (anonymous requests)", nil, nil
	}
	if err == nil {
		token, err = checkToken(token)
	}
	if err != nil {
		return "", nil, fmt.Errorf("credentials from %s: %w", source, err)
	}
	cfg.Bearer.Token = token
	return source, []string{token}, nil
}

// maxToken is longer than any token.
const maxToken = 64 << 10

// readToken reads the file that `ais auth login` writes, or a file that contains only a token.
func readToken(name string) (string, error) {
	data, err := wholefile.Read(name, wholefile.Small)
	if err != nil {
		return "", err
	}
	var said struct {
		Token string `json:"token"`
	}
	if json.Unmarshal(data, &said) == nil && said.Token != "" {
		return said.Token, nil
	}
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] == '{' {
		return "", fmt.Errorf("%s has no token", name)
	}
	return string(data), nil
}

// checkToken rejects text that is not a token and does not fit into a header.
func checkToken(token string) (string, error) {
	token = strings.TrimSpace(token)
	if token == "" || len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("that is not a token")
	}
	return token, nil
}
