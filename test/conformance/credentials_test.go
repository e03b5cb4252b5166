package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

func short(op string) []string {
	return []string{op, "--objects=4", "--obj.size=1KiB", "--concurrent=2", "--duration=200ms"}
}

// TestTLS checks that a private certificate needs --ca-file or --insecure, and that warp says so
// without them.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := teststore.Start(t, teststore.MinIO, teststore.Options{TLS: true})
	run := func(flags ...string) (outcome, string) {
		data := filepath.Join(t.TempDir(), "run")
		args := append(short("get"), "--host="+s.Endpoint, "--access-key="+s.AccessKey, "--secret-key="+s.SecretKey, "--benchdata="+data)
		return warp(append(args, flags...)...), data + ".csv.zst"
	}
	for _, flags := range [][]string{{"--tls", "--ca-file=" + s.CAFile}, {"--tls", "--insecure"}} {
		o, log := run(flags...)
		o.want(t, 0)
		o.sameAsAnalyze(t, log)
		for _, r := range readLog(t, log).rows {
			if r.Err != "" || r.Endpoint != "https://"+s.Endpoint {
				t.Fatalf("a row is %+v", r)
			}
		}
	}
	o, _ := run("--tls")
	o.want(t, 1).says(t, "certificate", "--ca-file")
	o, _ = run("--tls", "--warp-client="+strings.Join(startClients(t, 1), ","))
	o.want(t, 1).says(t, "client 127.0.0.1:", "certificate", "--ca-file")
	o, _ = run("--tls", "--warp-client="+strings.Join(startClients(t, 1), ","), "--serverprof=cpu")
	o.want(t, 1).says(t, "--serverprof", "certificate", "--ca-file")
	o, _ = run("--tls", "--insecure", "--upload=https://"+s.Endpoint+"/results/here")
	o.want(t, 1).says(t, "--upload", "certificate", "--upload-ca-file")
	o, _ = run()
	o.want(t, 1)
	t.Logf("without --tls: %s", o.says(t))
	plain := stores.Shared(t, teststore.Embedded)
	o, _ = run("--tls", "--host="+plain.Endpoint)
	o.want(t, 1)
	t.Logf("with --tls against plain HTTP: %s", o.says(t, "--tls"))
}

// leaks looks for a secret in everything that a run leaves behind.
func leaks(t *testing.T, secret, dir string, o outcome) {
	t.Helper()
	for what, text := range map[string]string{"standard output": o.out, "standard error": o.err} {
		if strings.Contains(text, secret) {
			t.Errorf("the secret is on %s: %s", what, text)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.Contains(path, secret) {
			t.Errorf("the secret is in the name %s", path)
		}
		if !strings.HasSuffix(path, ".csv.zst") {
			return nil
		}
		h := readLog(t, path)
		text := h.header.Command
		for k, v := range h.header.Parameters {
			text += " " + k + "=" + v
		}
		for _, r := range h.rows {
			text += r.Err
		}
		if strings.Contains(text, secret) {
			t.Errorf("the secret is in the log %s", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCredentials uses keys from all sources, and checks that the secret is never shown.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	dir := t.TempDir()
	file := filepath.Join(dir, "shared")
	text := "[default]\naws_access_key_id = nobody\naws_secret_access_key = nothing\n\n[bench]\naws_access_key_id = " + s.AccessKey +
		"\naws_secret_access_key = " + s.SecretKey + "\n"
	check.OK(t, os.WriteFile(file, []byte(text), 0o600))
	profile := []string{"AWS_SHARED_CREDENTIALS_FILE=" + file}
	for _, c := range []struct {
		name  string
		env   []string
		flags []string
		code  int
	}{
		{"flags", nil, []string{"--access-key=" + s.AccessKey, "--secret-key=" + s.SecretKey}, 0},
		{"flags in two words", nil, []string{"--access-key", s.AccessKey, "--secret-key", s.SecretKey}, 0},
		{"environment of warp", []string{"WARP_ACCESS_KEY=" + s.AccessKey, "WARP_SECRET_KEY=" + s.SecretKey}, nil, 0},
		{"environment of AWS", []string{"AWS_ACCESS_KEY_ID=" + s.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s.SecretKey}, nil, 0},
		{"profile by flag", profile, []string{"--profile=bench"}, 0},
		{"profile by environment", append(profile, "AWS_PROFILE=bench"), nil, 0},
		{"default profile", profile, nil, 1},
		{"unknown profile", profile, []string{"--profile=other"}, 1},
		{"none", nil, nil, 1},
		{"wrong secret", nil, []string{"--access-key=" + s.AccessKey, "--secret-key=verywrongsecret"}, 1},
		{"wrong key", nil, []string{"--access-key=nobody", "--secret-key=" + s.SecretKey}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := append(short("get"), "--host="+s.Endpoint, "--bucket=conformance-credentials", "--debug", "--benchdata="+filepath.Join(dir, "run"))
			o := warpProcess(t, c.env, append(args, c.flags...)...).want(t, c.code)
			if c.code != 0 {
				t.Logf("it says: %s", o.says(t))
			}
			leaks(t, s.SecretKey, dir, o)
			leaks(t, "verywrongsecret", dir, o)
			if c.code == 0 {
				log := filepath.Join(dir, "run.csv.zst")
				for _, again := range []outcome{warp("analyze", "--debug", log), warp("analyze", "--json", log), warp("cmp", log, log)} {
					leaks(t, s.SecretKey, dir, again.want(t, 0))
				}
			}
		})
	}
}
