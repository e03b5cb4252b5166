// Package upload uploads the op log of a run to a bucket of another store (--upload).
package upload

import (
	"context"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/target"
	"warp/cli/terminal/console"
	"warp/pkg/store"
	"warp/pkg/store/credentials"
	"warp/pkg/store/engines"
)

// Flags choose where the op log is uploaded.
type Flags struct {
	URL            string // --upload; "" = nowhere
	region, caFile string
}

// Variables with the keys for --upload. The keys of the measured store are not used for it.
const (
	uploadAccessVariable  = "WARP_UPLOAD_ACCESS_KEY"
	uploadSecretVariable  = "WARP_UPLOAD_SECRET_KEY"
	uploadSessionVariable = "WARP_UPLOAD_SESSION_TOKEN"
)

// Flags returns the flags.
func (f *Flags) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "upload", Destination: &f.URL,
			Usage: "after the run, upload the op log to `URL`, https://HOST:PORT/BUCKET/PREFIX, with the keys in [" + uploadAccessVariable +
				"], [" + uploadSecretVariable + "] and [" + uploadSessionVariable + "]"},
		&cli.StringFlag{Name: "upload-region", Destination: &f.region, Hidden: true, Usage: "with --upload: `REGION` of that bucket; by default warp asks the store"},
		&cli.StringFlag{Name: "upload-ca-file", Destination: &f.caFile, TakesFile: true, Hidden: true,
			Usage: "with --upload: PEM `FILE` of additional certificate authorities"},
	}
}

// A destination is a bucket and a prefix at a host.
type destination struct {
	host, bucket, prefix string
	tls                  bool
}

// destination parses the URL.
func (f *Flags) destination() (p destination, err error) {
	const form = "write it like https://s3.example.com/BUCKET/PREFIX"
	u, err := url.Parse(f.URL)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "http" && u.Scheme != "https" {
		return p, exit.Usagef("--upload: this is not the address of a bucket").WithHint(form)
	}
	if u.User != nil {
		return p, exit.Usagef("--upload: keys do not belong in the address").WithHint("put them into %s and %s", uploadAccessVariable, uploadSecretVariable)
	}
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if names, err := store.ParseBuckets(bucket); err != nil {
		return p, exit.Usagef("--upload: %w", err).WithHint(form)
	} else if len(names) > 1 {
		return p, exit.Usagef("--upload: %s names several buckets, and the log goes into one", bucket)
	}
	return destination{u.Host, bucket, prefix, u.Scheme == "https"}, nil
}

// Check returns an error if the flags cannot work, without a request. buckets are the buckets of the run; noLog says that
// there will be no op log.
func (f *Flags) Check(buckets []string, noLog bool) error {
	if f.URL == "" {
		if f.region != "" || f.caFile != "" {
			return exit.Usagef("--upload-region and --upload-ca-file need --upload")
		}
		return nil
	}
	p, err := f.destination()
	switch {
	case err != nil:
		return err
	case noLog:
		return exit.Usagef("--upload and --stress cannot be combined: --stress writes no op log")
	case f.caFile != "" && !p.tls:
		return exit.Usagef("--upload-ca-file needs an --upload to https://")
	case slices.Contains(buckets, p.bucket):
		// Two hosts may be two names of one store, so the host does not matter.
		return exit.Usagef("--upload: bucket %s has the same name as a measured bucket, which is only for objects of the run", p.bucket).WithHint("use a bucket of another name")
	}
	return target.CheckCertificates("--upload-ca-file", f.caFile, "", "")
}

// An Upload is the place for the op log of a run. A nil Upload does nothing.
type Upload struct {
	client *store.Client
	ref    store.Ref
	url    string // of the object
}

// Open checks before the load that the log can be uploaded, as far as requests that write nothing can tell. Keys that
// may only write are refused here, which proves nothing. It returns nil without --upload.
func (f *Flags) Open(ctx context.Context, inv *command.Invocation, log string) (*Upload, error) {
	if f.URL == "" {
		return nil, nil
	}
	p, err := f.destination()
	if err != nil {
		return nil, err
	}
	u := &Upload{ref: store.Ref{Bucket: p.bucket, Key: path.Join(p.prefix, filepath.Base(log))}}
	if u.client, err = f.client(ctx, inv, p); err != nil {
		return nil, err
	}
	u.url = strings.Join([]string{u.client.Endpoints()[0], u.ref.Bucket, u.ref.Key}, "/")
	if err := u.checkTarget(ctx); err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

// checkTarget checks that the bucket exists and the object does not.
func (u *Upload) checkTarget(ctx context.Context) error {
	bucket := u.ref.Bucket
	exists, err := u.client.BucketExists(ctx, bucket)
	switch code := store.CodeOf(err); {
	case err == nil && !exists:
		return exit.Errorf("--upload: there is no bucket %s at %s", bucket, u.client.Endpoints()[0]).WithHint("create it, or name another")
	case err == nil || code == "AccessDenied":
	case code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch":
		return exit.Errorf("--upload: check bucket %s: %w", bucket, err).WithHint("check %s and %s", uploadAccessVariable, uploadSecretVariable)
	case code == store.CodeTLS:
		return exit.Errorf("--upload: check bucket %s: %w", bucket, err).WithHint("check the address, and --upload-ca-file for a private certificate")
	default:
		return exit.Errorf("--upload: check bucket %s: %w", bucket, err)
	}
	if _, err := u.client.HeadersOf(ctx, u.ref); err == nil {
		return exit.Usagef("--upload: %s exists already", u.url).WithHint("choose another --benchdata or another prefix")
	}
	return nil
}

// Close closes the connections.
func (u *Upload) Close() {
	if u != nil {
		u.client.Close()
	}
}

// client returns a client with the keys in the variables, or in the AWS environment and profiles.
func (f *Flags) client(ctx context.Context, inv *command.Invocation, p destination) (*store.Client, error) {
	home, _ := os.UserHomeDir()
	env := inv.Env.Value
	own := credentials.Options{Access: env(uploadAccessVariable), Secret: env(uploadSecretVariable), Session: env(uploadSessionVariable), Home: home, Getenv: env}
	if (own.Access == "") != (own.Secret == "") || own.Session != "" && own.Access == "" {
		return nil, exit.Usagef("--upload: only one of %s and %s is set", uploadAccessVariable, uploadSecretVariable).WithHint("set both")
	}
	creds, err := credentials.Resolve(ctx, own)
	if err != nil {
		return nil, exit.Errorf("--upload: %w", err)
	}
	if keys, err := creds.Keys(ctx); err == nil {
		inv.Hide.Add(keys.SecretKey, keys.SessionToken)
	}
	inv.Debugf("credentials for --upload are from %s", creds.Source)
	cfg := store.Config{TLS: p.tls, CAFile: f.caFile, Credentials: creds.Credentials, AppVersion: inv.Version}
	if err := f.locate(p, &cfg); err != nil {
		return nil, exit.Usagef("--upload: %w", err)
	}
	client, err := engines.New(cfg)
	if err != nil {
		return nil, exit.Usagef("--upload: %w", err)
	}
	return client, nil
}

// locate sets the host and the region: as given, or derived from the names of bucket and host.
func (f *Flags) locate(p destination, cfg *store.Config) error {
	hosts, buckets := []string{p.host}, []string{p.bucket}
	kind, err := engines.ProviderOfBuckets(hosts, buckets)
	if err != nil {
		return err
	}
	if cfg.Region = f.region; kind != nil {
		cfg.Provider = kind.Name
		if hosts, cfg.Region, err = kind.Locate(hosts, buckets, f.region); err != nil {
			return err
		}
	}
	cfg.Hosts = store.Addresses(hosts)
	return nil
}

// Send uploads the log at path.
func (u *Upload) Send(ctx context.Context, out *console.Console, path string) error {
	if err := u.client.UploadFile(ctx, u.ref, path, "application/zstd"); err != nil {
		return exit.Errorf("the op log was not uploaded to %s: %w; it is in %q", u.url, err, path)
	}
	out.Notef("op log uploaded to %s", u.url)
	return nil
}
