package cli

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
	"warp/pkg/store"
	"warp/pkg/store/credentials"
	"warp/pkg/store/engines"
)

// uploadFlags say where the op log of a run goes beside the folder that it is in.
type uploadFlags struct{ url, region, caFile string }

// Variables with the keys for --upload. Those of the store that is measured are not used for anything else.
const (
	uploadAccessVariable  = "WARP_UPLOAD_ACCESS_KEY"
	uploadSecretVariable  = "WARP_UPLOAD_SECRET_KEY"
	uploadSessionVariable = "WARP_UPLOAD_SESSION_TOKEN"
)

func (f *uploadFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "upload", Destination: &f.url,
			Usage: "after the run, upload the op log to `URL`, https://HOST:PORT/BUCKET/PREFIX, with the keys in [" + uploadAccessVariable +
				"], [" + uploadSecretVariable + "] and [" + uploadSessionVariable + "]"},
		&cli.StringFlag{Name: "upload-region", Destination: &f.region, Hidden: true, Usage: "with --upload: `REGION` of that bucket; by default warp asks the store"},
		&cli.StringFlag{Name: "upload-ca-file", Destination: &f.caFile, TakesFile: true, Hidden: true,
			Usage: "with --upload: PEM `FILE` of additional certificate authorities"},
	}
}

// An uploadPlace is where --upload points.
type uploadPlace struct {
	host, bucket, prefix string
	tls                  bool
}

// place takes the URL apart.
func (f *uploadFlags) place() (p uploadPlace, err error) {
	const form = "write it like https://s3.example.com/BUCKET/PREFIX"
	u, err := url.Parse(f.url)
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
	return uploadPlace{u.Host, bucket, prefix, u.Scheme == "https"}, nil
}

// check refuses what cannot work, before anything is asked of anybody.
func (f *uploadFlags) check(b *benchFlags) error {
	if f.url == "" {
		if f.region != "" || f.caFile != "" {
			return exit.Usagef("--upload-region and --upload-ca-file need --upload")
		}
		return nil
	}
	p, err := f.place()
	switch {
	case err != nil:
		return err
	case b.stress:
		return exit.Usagef("--upload uploads the op log, and --stress writes none: leave out one of them")
	case f.caFile != "" && !p.tls:
		return exit.Usagef("--upload-ca-file needs an --upload to https://")
	case slices.Contains(b.target.Buckets, p.bucket):
		// Two hosts may be two names of one store, so the host does not matter.
		return exit.Usagef("--upload: bucket %s has the name of one that is measured, which is for objects of the run only", p.bucket).WithHint("use a bucket of another name")
	}
	return target.CheckCertificates("--upload-ca-file", f.caFile, "", "")
}

// An upload is where the op log goes.
type upload struct {
	client *store.Client
	ref    store.Ref
	url    string // of the object
}

// open finds out before the load whether the log can go there, as far as that can be known without writing; nil is
// nowhere. Keys that may only write are refused to look, which says nothing.
func (f *uploadFlags) open(ctx context.Context, inv *command.Invocation, log string) (*upload, error) {
	if f.url == "" {
		return nil, nil
	}
	p, err := f.place()
	if err != nil {
		return nil, err
	}
	u := &upload{ref: store.Ref{Bucket: p.bucket, Key: path.Join(p.prefix, filepath.Base(log))}}
	if u.client, err = f.client(ctx, inv, p); err != nil {
		return nil, err
	}
	u.url = strings.Join([]string{u.client.Endpoints()[0], u.ref.Bucket, u.ref.Key}, "/")
	if err := u.checkTarget(ctx); err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

// checkTarget finds out whether the bucket is there, and the object not yet.
func (u *upload) checkTarget(ctx context.Context) error {
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

func (u *upload) close() {
	if u != nil {
		u.client.Close()
	}
}

// client talks to the store of --upload as whoever the variables say, or the AWS environment and profiles.
func (f *uploadFlags) client(ctx context.Context, inv *command.Invocation, p uploadPlace) (*store.Client, error) {
	home, _ := os.UserHomeDir()
	env := func(name string) string {
		value, _ := inv.Env(name)
		return value
	}
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
	cfg := store.Config{TLS: p.tls, CAFile: f.caFile, Credentials: creds.Credentials, AppVersion: thisBuild().version}
	if err := f.locate(p, &cfg); err != nil {
		return nil, exit.Usagef("--upload: %w", err)
	}
	client, err := engines.New(cfg)
	if err != nil {
		return nil, exit.Usagef("--upload: %w", err)
	}
	return client, nil
}

// locate says where the bucket is: at the host that was given, or where its name and the host's say.
func (f *uploadFlags) locate(p uploadPlace, cfg *store.Config) error {
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

// uploadLog uploads the log that the run has left, however the run ended. It is the last thing that a run does: by then
// the bucket is clean, and clients are free.
func (s *session) uploadLog(ctx context.Context, err error) error {
	if s.upload == nil || s.written == "" {
		return err
	}
	if failed := s.upload.client.UploadFile(context.WithoutCancel(ctx), s.upload.ref, s.written, "application/zstd"); failed != nil {
		return exit.Join(err, exit.Errorf("the op log was not uploaded to %s: %w; it is in %q", s.upload.url, failed, s.written))
	}
	s.Notef("op log uploaded to %s", s.upload.url)
	return err
}
