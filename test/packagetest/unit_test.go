package packagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

const unit = "packaging/systemd/warp-client.service"

// setting is what the unit says under a name.
func setting(t *testing.T, name string) string {
	t.Helper()
	for line := range strings.Lines(read(t, unit)) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("%s has no %s", unit, name)
	return ""
}

// systemd knows everything in the unit, and finds little that a service could do beyond its work.
func TestUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		missing(t, "the unit is not checked: systemd-analyze is not installed")
	}
	text := read(t, unit)
	run := func(text string, args ...string) (string, error) {
		copied := filepath.Join(t.TempDir(), filepath.Base(unit))
		// It wants a program that is there.
		text = strings.Replace(text, "ExecStart=/usr/local/bin/warp ", "ExecStart="+binary+" ", 1)
		check.OK(t, os.WriteFile(copied, []byte(text), 0o644))
		out, err := exec.CommandContext(t.Context(), analyze, append(args, copied)...).CombinedOutput()
		return string(out), err
	}
	// What is unknown is a warning only.
	if out, err := run(text, "verify", "--man=no"); err != nil || strings.Contains(out, filepath.Base(unit)) {
		t.Errorf("%v\n%s", err, out)
	}
	for from, to := range map[string]string{
		"ProtectSystem=strict": "ProtectSystems=strict", "RestartSec=5": "RestartSec=soon", "ExecStart=": "ExecStarts=",
	} {
		if out, err := run(strings.Replace(text, from, to, 1), "verify", "--man=no"); err == nil && !strings.Contains(out, filepath.Base(unit)) {
			t.Errorf("%s passes\n%s", to, out)
		}
	}
	security := []string{"security", "--offline=true", "--threshold=20"} // of 100
	if out, err := run(text, security...); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run(strings.Replace(text, "SystemCallFilter=", "#", 1), security...); err == nil {
		t.Errorf("any system call is allowed, and that passes\n%s", out)
	}
}

// The command of the unit, with the environment and in the folder that the unit gives it, serves a coordinator and ends
// well when it is asked to. Only the address differs, since another test may use the unit's.
func TestUnitServes(t *testing.T) {
	t.Parallel()
	command := strings.Fields(setting(t, "ExecStart"))
	if command[0] != "/usr/local/bin/warp" {
		t.Errorf("it starts %s", command[0])
	}
	at := slices.Index(command, "0.0.0.0:7761")
	if at < 0 {
		t.Fatalf("%q does not listen on every address", command)
	}
	command[at] = teststore.FreeAddress(t)
	token := "WARP_CLIENT_TOKEN=a long random text"
	if want := setting(t, "EnvironmentFile") + ` <<<"` + token + `"`; !strings.Contains(read(t, unit), want) {
		t.Errorf("the unit does not say how its EnvironmentFile is made: %s", want)
	}

	client := exec.Command(binary, command[1:]...)
	client.Dir, client.Env = t.TempDir(), []string{token}
	out := start(t, client)
	awaitText(t, out, "listens at")

	store := teststore.Start(t, teststore.Embedded, teststore.Options{})
	coordinator := exec.CommandContext(t.Context(), binary, "get", "--warp-client="+command[at], "--host="+store.Endpoint, "--access-key=a",
		"--secret-key=secretsecret", "--obj.size=4KiB", "--objects=20", "--concurrent=2", "--duration=2s")
	coordinator.Dir, coordinator.Env = t.TempDir(), []string{token}
	if report, err := coordinator.CombinedOutput(); err != nil || !strings.Contains(string(report), "Operation: GET") {
		t.Fatalf("%v\n%s", err, report)
	}
	if logs, _ := filepath.Glob(client.Dir + "/warp-client-*.csv.zst"); len(logs) != 1 {
		t.Errorf("the client's logs in its folder: %v", logs)
	}
	// systemd takes any other end for a failure, and would start it again.
	check.OK(t, client.Process.Signal(syscall.SIGTERM))
	if err := client.Wait(); err != nil {
		t.Errorf("%v after SIGTERM\n%s", err, out)
	}
}
