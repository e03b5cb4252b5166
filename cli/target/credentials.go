package target

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/internal/wholefile"
	"warp/pkg/store"
	"warp/pkg/store/credentials"
	"warp/pkg/store/nethttp"
)

// credentials finds out as whom to talk to the store. There are several with
// --credentials-file only.
func (f *Flags) credentials(ctx context.Context, inv *command.Invocation, cfg *store.Config) ([]store.Credentials, error) {
	if f.CredentialsFile != "" {
		return f.severalCredentials(ctx, inv)
	}
	// A machine without a home folder has no shared configuration.
	home, _ := os.UserHomeDir()
	o := credentials.Options{
		Access: f.AccessKey, Secret: f.SecretKey, Session: f.sessionToken,
		Profile: f.Profile, Signature: f.Signature, Home: home,
		Getenv: inv.Env.Value,
	}
	if f.Signature == signSTS {
		if err := f.exchange(inv, cfg, &o); err != nil {
			return nil, err
		}
	}
	creds, err := credentials.Resolve(ctx, o)
	if err != nil {
		return nil, exit.Errorf("%w", err)
	}
	// Keys from other sources than flags and variables are secrets, too.
	if keys, err := creds.Keys(ctx); err == nil {
		inv.Hide.Add(keys.SecretKey, keys.SessionToken)
		f.anonymous = keys.Anonymous()
	}
	inv.Debugf("credentials are from %s", creds.Source)
	return []store.Credentials{creds.Credentials}, nil
}

// exchange sets the endpoint that exchanges a web token for credentials: the
// store itself, or the one in AWS's own variable.
func (f *Flags) exchange(inv *command.Invocation, cfg *store.Config, o *credentials.Options) error {
	o.WebToken = f.webToken
	if name, isFile := strings.CutPrefix(f.webToken, "file:"); isFile {
		token, err := wholefile.Read(name, wholefile.Small)
		if err != nil {
			return exit.Errorf("--sts-web-token: %w", err)
		}
		inv.Hide.Add(strings.TrimSpace(string(token)))
	}
	scheme := "http://"
	if f.TLS {
		scheme = "https://"
	}
	o.STSEndpoint = cmp.Or(inv.Env.Value("AWS_ENDPOINT_URL_STS"), scheme+cfg.Hosts[0].Name)
	transport, err := nethttp.PlainTransport(cfg)
	if err != nil {
		return exit.Usagef("%w", err)
	}
	o.Client = &http.Client{Transport: transport}
	return nil
}

func (f *Flags) severalCredentials(ctx context.Context, inv *command.Invocation) ([]store.Credentials, error) {
	all, err := credentials.ReadFile(f.CredentialsFile, f.Signature)
	if err != nil {
		return nil, exit.Usagef("--credentials-file: %w", err)
	}
	for _, c := range all {
		if keys, err := c.Keys(ctx); err == nil {
			inv.Hide.Add(keys.SecretKey, keys.SessionToken)
		}
	}
	inv.Debugf("%d credentials take turns", len(all))
	return all, nil
}
