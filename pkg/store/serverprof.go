package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// ServerProfiles are what MinIO can profile of itself.
func ServerProfiles() []string {
	return []string{"cpu", "cpuio", "mem", "block", "mutex", "threads", "trace"}
}

// ParseServerProfiles reads the value of --serverprof: some of them, separated by commas.
func ParseServerProfiles(spec string) (kinds []string, err error) {
	for k := range ListItems(spec) {
		switch {
		case !slices.Contains(ServerProfiles(), k):
			return nil, fmt.Errorf("%q is none of %s", k, strings.Join(ServerProfiles(), ", "))
		case slices.Contains(kinds, k):
			return nil, fmt.Errorf("%s is named twice", k)
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// The administration interface of MinIO, version 3.
const (
	profilesStart    = "/minio/admin/v3/profiling/start"
	profilesDownload = "/minio/admin/v3/profiling/download"
	// A store may have to collect from many nodes.
	profilesWait = 2 * time.Minute
)

// StartServerProfiles has all nodes of a MinIO profile themselves, which needs
// the rights of an administrator. Any other store is an error.
func (c *Client) StartServerProfiles(ctx context.Context, kinds []string) error {
	ctx, cancel := context.WithTimeout(ctx, profilesWait)
	defer cancel()
	resp, err := c.admin(ctx, http.MethodPost, profilesStart, url.Values{"profilerType": {strings.Join(kinds, ",")}})
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
		return errNotMinIO
	}
	for _, n := range nodes {
		if !n.Success {
			_ = c.ServerProfilesTo(ctx, io.Discard) // the other nodes have begun
			return fmt.Errorf("node %s does not start its profile: %s", n.Node, oneLine(n.Error))
		}
	}
	return nil
}

var errNotMinIO = errors.New("this store does not profile itself: it has no administration interface of MinIO")

// ServerProfilesTo ends the profiles and writes them to w, as a ZIP.
func (c *Client) ServerProfilesTo(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, profilesWait)
	defer cancel()
	resp, err := c.admin(ctx, http.MethodGet, profilesDownload, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(w, resp.Body)
	return asError(err, nil)
}

// admin sends a signed request to the first host that can be connected to. An
// answer that is no success is an error.
func (c *Client) admin(ctx context.Context, method, path string, query url.Values) (resp *http.Response, err error) {
	other := false
	err = c.tryHosts(ctx, 0, func(h *Host) error {
		resp, err = c.adminAt(ctx, h.desk, method, path, query)
		if other = err == errNotMinIO; other {
			return nil
		}
		return err
	})
	if other {
		err = errNotMinIO
	}
	return resp, err
}

func (c *Client) adminAt(ctx context.Context, desk *minioEngine, method, path string, query url.Values) (*http.Response, error) {
	u := *desk.core.Client.EndpointURL()
	u.Path, u.RawQuery = path, query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	value := credentials.Value{}
	if creds, err := desk.core.Client.GetCreds(); err == nil {
		value = creds
	}
	empty := sha256.Sum256(nil)
	req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(empty[:]))
	req = signer.SignV4(*req, value.AccessKeyID, value.SecretAccessKey, value.SessionToken, cmp.Or(c.region, "us-east-1"))
	resp, err := desk.transport.RoundTrip(req)
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
		return nil, errNotMinIO
	}
	return nil, errorf(said.Code, resp.StatusCode, "%s", strings.TrimSuffix(oneLine(said.Message), "."))
}
