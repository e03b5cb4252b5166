package minio

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// Paths of MinIO's administration API, version 3.
const (
	profilesStart    = "/minio/admin/v3/profiling/start"
	profilesDownload = "/minio/admin/v3/profiling/download"
)

// StartProfiles starts profiles on all nodes of a MinIO.
func (a *Admin) StartProfiles(ctx context.Context, kinds []string) error {
	resp, err := a.send(ctx, http.MethodPost, profilesStart, url.Values{"profilerType": {strings.Join(kinds, ",")}})
	if err != nil {
		return err
	}
	defer drop(resp)
	var nodes []struct {
		Node    string `json:"nodeName"`
		Success bool   `json:"success"`
		Error   string `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&nodes); err != nil || len(nodes) == 0 {
		return store.ErrUnsupported
	}
	for _, n := range nodes {
		if !n.Success {
			if zip, err := a.Profiles(ctx); err == nil { // the other nodes have started
				_, _ = io.Copy(io.Discard, zip)
				zip.Close()
			}
			return fmt.Errorf("node %s does not start its profile: %s", n.Node, store.OneLine(n.Error))
		}
	}
	return nil
}

// Profiles stops the profiles and returns them as a ZIP.
func (a *Admin) Profiles(ctx context.Context) (io.ReadCloser, error) {
	resp, err := a.send(ctx, http.MethodGet, profilesDownload, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// send sends a signed request to the administration API. Any answer but a success is an error.
func (a *Admin) send(ctx context.Context, method, path string, query url.Values) (*http.Response, error) {
	u := *a.core.EndpointURL()
	u.Path, u.RawQuery = path, query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	value := credentials.Value{}
	if creds, err := a.core.GetCreds(); err == nil {
		value = creds
	}
	req.Header.Set("X-Amz-Content-Sha256", s3.EmptyPayload)
	req = signer.SignV4(*req, value.AccessKeyID, value.SecretAccessKey, value.SessionToken, cmp.Or(a.region, "us-east-1"))
	resp, err := a.transport.RoundTrip(req)
	if err != nil {
		return nil, asError(err, nil)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer drop(resp)
	var said struct{ Code, Message string }
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if json.Unmarshal(text, &said) != nil || said.Code == "" {
		return nil, store.ErrUnsupported
	}
	return nil, store.Errorf(said.Code, resp.StatusCode, "%s", strings.TrimSuffix(store.OneLine(said.Message), "."))
}
