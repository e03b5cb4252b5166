package teststore

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
)

// AzuritePath is the path of the emulator's account in Azurite.
const AzuritePath = "/devstoreaccount1"

// npmInstall installs an npm package, and creates a program that runs it.
func npmInstall(ctx context.Context, r recipe, dir string, log io.Writer) error {
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, r.source+"@"+r.version)
	if err := runQuietly(cmd, dir, log); err != nil {
		return err
	}
	return writeProgram(dir, Azurite, "exec node \"$(dirname \"$0\")/node_modules/.bin/"+Azurite+"\" \"$@\"")
}

// launchAzurite starts Azurite, which keeps everything in memory and checks signatures.
func (s *Store) launchAzurite(ctx context.Context, binary string, o Options) error {
	host, port, err := s.listen()
	if err != nil {
		return err
	}
	s.Provider, s.Path = "azure", AzuritePath
	s.AccessKey, s.SecretKey = "", "" // the well-known account
	err = s.run(binary, o.Env, "--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--blobHost", host, "--blobPort", port)
	if err != nil {
		return err
	}
	return s.awaitReady(ctx, answersAnyone(s.Endpoint))
}

// azuriteKey is the well-known key of the emulator's account.
const azuriteKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

// azuriteSAS returns the parameters of a shared access signature that allows everything.
func azuriteSAS() string {
	const permissions, service, kinds, until, version = "racwdlt", "b", "sco", "2099-01-01T00:00:00Z", "2019-12-12"
	key, _ := base64.StdEncoding.DecodeString(azuriteKey)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n\n%s\n\n\n%s\n", strings.TrimPrefix(AzuritePath, "/"), permissions, service, kinds, until, version)
	return url.Values{"sp": {permissions}, "ss": {service}, "srt": {kinds}, "se": {until}, "sv": {version},
		"sig": {base64.StdEncoding.EncodeToString(mac.Sum(nil))}}.Encode()
}

// AskAzurite sends a request about a container, or about a blob if the name is not "", directly to
// Azurite.
func (s *Store) AskAzurite(ctx context.Context, method, container, blob, query, body string) (status int, text string, err error) {
	target := url.URL{Scheme: "http", Host: s.Endpoint, Path: s.Path + "/" + container, RawQuery: strings.TrimPrefix(query+"&"+azuriteSAS(), "&")}
	if blob != "" {
		target.Path += "/" + blob
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if method == http.MethodPut && query == "" {
		req.Header.Set("X-Ms-Blob-Type", "BlockBlob")
	}
	return ask(req)
}

// ask sends a request and returns the answer.
func ask(req *http.Request) (status int, text string, err error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// A Blob is an entry of Azurite's listing. Incomplete uploads have an entry too.
type Blob struct {
	Name     string
	ETag     string `xml:"Properties>Etag"`
	MD5      string `xml:"Properties>Content-MD5"`
	Modified string `xml:"Properties>Last-Modified"`
	Size     int64  `xml:"Properties>Content-Length"`
}

// Blobs returns all blobs of a container; ok is false if the container does not exist.
func (s *Store) Blobs(ctx context.Context, container string) (blobs []Blob, ok bool, err error) {
	for marker := ""; ; {
		query := "restype=container&comp=list&include=uncommittedblobs&marker=" + url.QueryEscape(marker)
		status, text, err := s.AskAzurite(ctx, http.MethodGet, container, "", query, "")
		if err != nil || status == http.StatusNotFound {
			return nil, false, err
		}
		if status != http.StatusOK {
			return nil, false, fmt.Errorf("listing %s: status %d: %s", container, status, text)
		}
		var page struct {
			Blobs      []Blob `xml:"Blobs>Blob"`
			NextMarker string
		}
		if err := xml.Unmarshal([]byte(text), &page); err != nil {
			return nil, false, err
		}
		blobs = append(blobs, page.Blobs...)
		if marker = page.NextMarker; marker == "" {
			return blobs, true, nil
		}
	}
}
