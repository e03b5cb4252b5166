package gcs

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"warp/internal/wholefile"
	"warp/pkg/store"
	"warp/pkg/store/provider"
	"warp/pkg/store/tokens"
)

// identify uses a pair of HMAC keys, or else tokens.
func identify(id *provider.Identity, cfg *store.Config) (from string, secrets []string, err error) {
	access, secret, source := id.Access, id.Secret, "flags or WARP_* variables"
	named := id.Token != "" || id.File != "" || id.Metadata || id.Getenv("GOOGLE_APPLICATION_CREDENTIALS") != ""
	if google := id.Getenv("AWS_ACCESS_KEY_ID"); access == "" && !named && strings.HasPrefix(google, "GOOG") {
		access, secret, source = google, id.Getenv("AWS_SECRET_ACCESS_KEY"), "the AWS environment"
	}
	if access != "" {
		cfg.Credentials = store.Keys{AccessKey: access, SecretKey: secret}
		return source, []string{secret}, nil
	}
	cfg.Credentials = store.Keys{}
	return identifyByToken(id, cfg)
}

// identifyByToken completes cfg, which has its hosts, with tokens from the first source that has any, and
// returns the name of that source. It is an error if a source that the user named has none.
// Credentials found on this machine go to Google alone.
func identifyByToken(id *provider.Identity, cfg *store.Config) (source string, secrets []string, err error) {
	useProject(cmp.Or(id.Getenv("GOOGLE_CLOUD_PROJECT"), id.Getenv("GCLOUD_PROJECT")), cfg)
	variable, emulator := id.Getenv("GOOGLE_APPLICATION_CREDENTIALS"), id.Getenv("STORAGE_EMULATOR_HOST") != ""
	switch {
	case id.Token != "":
		cfg.Bearer.Token, secrets, source = id.Token, []string{id.Token}, "--access-token"
	case id.File != "":
		source, err = "--credentials-file", useFile(id.File, cfg)
	case id.Metadata:
		cfg.Bearer.Metadata, source = true, "the metadata server"
	case variable != "" && !emulator && !tokens.Exposed(cfg):
		return "GOOGLE_APPLICATION_CREDENTIALS", nil, explain("GOOGLE_APPLICATION_CREDENTIALS", useFile(variable, cfg))
	case allGoogle(cfg) && !tokens.Exposed(cfg):
		name := wellKnownFile(id)
		if _, missing := os.Stat(name); missing != nil {
			return nowhere, nil, nil
		}
		return "gcloud's application default credentials", nil, explain(name, useFile(name, cfg))
	default:
		return nowhere, nil, nil
	}
	if err != nil {
		return "", nil, explain(source, err)
	}
	if tokens.Exposed(cfg) {
		return "", nil, fmt.Errorf("%s would send a token to %s over plain HTTP, where anybody on the way can use it: add --tls", source, cfg.Hosts[0].Name)
	}
	return source, secrets, nil
}

const nowhere = "nowhere (anonymous requests)"

func explain(source string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("credentials from %s: %w", source, err)
}

// useFile reads a credentials file into cfg.
func useFile(name string, cfg *store.Config) error {
	data, err := wholefile.Read(name, wholefile.Small)
	if err != nil {
		return err
	}
	kind, project, err := readFile(data)
	if err == nil {
		err = checkFile(data, kind)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	cfg.Bearer.File = data
	if len(cfg.Settings) == 0 { // no variable names another project
		useProject(project, cfg)
	}
	return nil
}

// useProject sets the project in which buckets are created.
func useProject(project string, cfg *store.Config) {
	cfg.Settings = nil
	if project != "" {
		cfg.Settings = store.EncodeSettings(Settings{Project: project})
	}
}

// wellKnownFile returns the file that gcloud auth application-default login writes.
func wellKnownFile(id *provider.Identity) string {
	folder := id.Getenv("CLOUDSDK_CONFIG")
	if app := id.Getenv("APPDATA"); folder == "" && app != "" {
		folder = filepath.Join(app, "gcloud")
	}
	return filepath.Join(cmp.Or(folder, filepath.Join(id.Home, ".config", "gcloud")), "application_default_credentials.json")
}

// Serves reports whether the name of a host, with or without port, is Google's:
// storage.googleapis.com, and its regional and private forms.
func Serves(host string) bool {
	name := strings.ToLower(host)
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	return strings.HasSuffix(name, ".googleapis.com") && (strings.HasPrefix(name, "storage.") || strings.HasPrefix(name, "storage-"))
}

func allGoogle(cfg *store.Config) bool {
	for _, a := range cfg.Hosts {
		if !Serves(a.Name) {
			return false
		}
	}
	return true
}

// Portable returns an error for credentials that cannot be sent to another machine, because they
// name files, commands or addresses of this one.
func Portable(cfg *store.Config) error {
	if cfg.Bearer.Metadata {
		return errors.New("the metadata server belongs to this machine: use a service account's file, or --access-token")
	}
	if len(cfg.Bearer.File) == 0 {
		return nil
	}
	kind, _, err := readFile(cfg.Bearer.File)
	if err != nil || kind == "service_account" || kind == "authorized_user" {
		return err
	}
	return fmt.Errorf("credentials of type %s belong to this machine: use a service account's file, or --access-token", store.OneLine(kind))
}
