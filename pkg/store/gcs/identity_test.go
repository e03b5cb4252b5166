package gcs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/provider"
)

// Each source of tokens is used only for the right hosts.
func TestIdentify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		check.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	account := write("account.json", string(serviceAccount(t, newStandIn(t))))
	user := write("home/.config/gcloud/application_default_credentials.json", `{"type":"authorized_user","quota_project_id":"of-user","client_id":"i","client_secret":"s","refresh_token":"t"}`)
	broken := write("broken.json", `type=service_account`)
	magic := write("magic.json", `{"type":"magic"}`)
	keyless := write("keyless.json", `{"type":"service_account","client_email":"a@b"}`)
	plain := write("plain.json", `{"type":"service_account","client_email":"a@b","private_key":"abc"}`)
	damaged := write("damaged.json", `{"type":"service_account","client_email":"a@b","private_key":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}`)
	home, google := filepath.Join(dir, "home"), "storage.googleapis.com"
	variable := map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": account}
	for _, c := range []struct {
		name, host string
		tls        bool
		id         provider.Identity
		env        map[string]string
		source     string // or a part of the error
		project    string
		token      bool
	}{
		{"a token", google, true, provider.Identity{Token: "t"}, variable, "--access-token", "", true},
		{"a token over plain HTTP", "gcs.example", false, provider.Identity{Token: "t"}, nil, "over plain HTTP", "", false},
		{"a token for this machine", "127.0.0.1:4443", false, provider.Identity{Token: "t"}, nil, "--access-token", "", true},
		{"a file", google, true, provider.Identity{File: account}, nil, "--credentials-file", "p", true},
		{"a file, another project", google, true, provider.Identity{File: account}, map[string]string{"GOOGLE_CLOUD_PROJECT": "mine"}, "--credentials-file", "mine", true},
		{"a broken file", google, true, provider.Identity{File: broken}, nil, "it is not valid JSON", "", false},
		{"a file of no type", google, true, provider.Identity{File: write("empty.json", `{}`)}, nil, "names no type", "", false},
		{"a file of another type", google, true, provider.Identity{File: magic}, nil, "unknown credential type", "", false},
		{"a file without a key", google, true, provider.Identity{File: keyless}, nil, "private_key is missing", "", false},
		{"a file with a key that is no PEM", google, true, provider.Identity{File: plain}, nil, "its private_key is not PEM", "", false},
		{"a file with a damaged key", google, true, provider.Identity{File: damaged}, nil, "its private_key is damaged", "", false},
		{"the metadata server", google, true, provider.Identity{Metadata: true}, nil, "the metadata server", "", true},
		{"the variable", google, true, provider.Identity{Home: home}, variable, "GOOGLE_APPLICATION_CREDENTIALS", "p", true},
		{"the variable, this machine", "localhost:4443", false, provider.Identity{Home: home}, variable, "GOOGLE_APPLICATION_CREDENTIALS", "p", true},
		{"the variable, plain HTTP", "gcs.example:4443", false, provider.Identity{Home: home}, variable, nowhere, "", false},
		{"the variable, an emulator", "127.0.0.1:4443", false, provider.Identity{Home: home},
			map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": account, "STORAGE_EMULATOR_HOST": "127.0.0.1:4443"}, nowhere, "", false},
		{"the variable names nothing", google, true, provider.Identity{}, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/none"}, "no such file", "", false},
		{"gcloud's file", google, true, provider.Identity{Home: home}, nil, "gcloud's application default credentials", "of-user", true},
		{"gcloud's folder", google, true, provider.Identity{Home: "/none"}, map[string]string{"CLOUDSDK_CONFIG": filepath.Dir(user)}, "gcloud's application default credentials", "of-user", true},
		{"gcloud's file is for Google", "127.0.0.1:4443", false, provider.Identity{Home: home}, nil, nowhere, "", false},
		{"gcloud's file over plain HTTP", google, false, provider.Identity{Home: home}, nil, nowhere, "", false},
		{"nothing", google, true, provider.Identity{Home: "/none"}, nil, nowhere, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := store.Config{TLS: c.tls, Hosts: []store.Address{{Name: c.host}}}
			c.id.Getenv = func(name string) string { return c.env[name] }
			source, _, err := identifyByToken(&c.id, &cfg)
			if err != nil {
				source = err.Error()
			}
			if !strings.Contains(source, c.source) || err == nil && (projectOf(t, &cfg) != c.project || cfg.Bearer.Given() != c.token) {
				t.Errorf("from %q, project %q, tokens %v", source, projectOf(t, &cfg), cfg.Bearer.Given())
			}
		})
	}
}

func projectOf(t *testing.T, cfg *store.Config) string {
	t.Helper()
	var settings Settings
	check.OK(t, cfg.DecodeSettings(&settings))
	return settings.Project
}
