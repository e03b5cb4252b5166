package ais

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/provider"
)

func TestIdentify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		check.OK(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	written, plain := file("written", `{"token": "from-login"}`), file("plain", "from-plain\n")
	empty, broken := file("empty", "\n"), file("broken", "two words")
	for _, c := range []struct {
		name          string
		id            provider.Identity
		env           map[string]string
		token, source string
		wrong         string
	}{
		{name: "nothing", source: "nowhere (anonymous requests)"},
		{name: "flag", id: provider.Identity{Token: "t", File: ""}, env: map[string]string{"AIS_AUTHN_TOKEN": "other"}, token: "t", source: "--access-token"},
		{name: "file", id: provider.Identity{File: written}, env: map[string]string{"AIS_AUTHN_TOKEN": "other"}, token: "from-login", source: "--credentials-file"},
		{name: "variable", env: map[string]string{"AIS_AUTHN_TOKEN": "v", "AIS_AUTHN_TOKEN_FILE": plain}, token: "v", source: "AIS_AUTHN_TOKEN"},
		{name: "file of a variable", env: map[string]string{"AIS_AUTHN_TOKEN_FILE": plain}, token: "from-plain", source: "AIS_AUTHN_TOKEN_FILE"},
		{name: "no file", id: provider.Identity{File: filepath.Join(dir, "missing")}, wrong: "credentials from --credentials-file: open "},
		{name: "empty file", id: provider.Identity{File: empty}, wrong: "has no token"},
		{name: "no token", id: provider.Identity{File: broken}, wrong: "that is not a token"},
		{name: "a header in it", id: provider.Identity{Token: "a\r\nX-Evil: 1"}, wrong: "that is not a token"},
		{name: "keys", id: provider.Identity{Access: "key"}, wrong: "takes a token of AuthN, and no keys"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.id.Getenv = func(name string) string { return c.env[name] }
			var cfg store.Config
			source, secrets, err := identify(&c.id, &cfg)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || source != c.source || cfg.Bearer.Token != c.token || len(secrets) > 0 && secrets[0] != c.token {
				t.Errorf("token %q from %s, %v", cfg.Bearer.Token, source, err)
			}
		})
	}
}
