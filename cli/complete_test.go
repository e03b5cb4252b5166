package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	a := &app{env: mapEnvironment(nil), extra: fakeCommands}
	for words, want := range map[string]string{
		"an":                             "analyze",
		"fake --obj.s":                   "--obj.size",
		"fake -obj.s":                    "--obj.size",
		"fake --stre":                    "--stress",
		"fake --no":                      "--no-color",
		"fake --tls=":                    "false true",
		"fake --host-select ":            "roundrobin weighed",
		"fake --host-select=r":           "roundrobin",
		"fake --host-select = r":         "roundrobin",
		"fake --host-select =":           "roundrobin weighed",
		"fake --tls --host x --host-s":   "--host-select",
		"get --verify=c":                 "checksum content",
		"analyze --json --analyze.op ":   "",
		"completion ":                    "bash fish zsh",
		"completion b":                   "bash",
		"nonsense ":                      "",
		"--vers":                         "--version",
		"help an":                        "analyze",
		"--json --help an":               "analyze",
		"--cpu --pprofdir x an":          "analyze",
		"--quiet fake --host-select r":   "roundrobin",
		"fake -- --t":                    "",
		"analyze some-file --analyze.of": "--analyze.offset",
	} {
		if got := strings.Join(a.table().Complete(strings.Split(words, " ")), " "); got != want {
			t.Errorf("%q is completed with %q, want %q", words, got, want)
		}
	}
	if got := a.table().Complete([]string{""}); len(got) < 5 {
		t.Errorf("no command yet: %q", got)
	}
	if got := a.table().Complete(nil); got != nil {
		t.Errorf("no word at all: %q", got)
	}
}

// completionScript writes what `warp completion SHELL` prints to a file.
func completionScript(t *testing.T, shell string) string {
	t.Helper()
	r := runWarp(t, nil, "completion", shell)
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	path := filepath.Join(t.TempDir(), "script")
	check.OK(t, os.WriteFile(path, []byte(r.out), 0o644))
	return path
}

// The shells are asked what they offer, with warp being this test's own binary.

func TestCompletionBash(t *testing.T) {
	t.Parallel()
	script := `source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_warp
printf '%s\n' "${COMPREPLY[@]}"
complete -p warp`
	for words, want := range map[string]string{
		"warp an":                           "analyze",
		"warp analyze --analyze.of":         "--analyze.offset",
		"warp completion z":                 "zsh",
		"warp analyze --json = t":           "true",
		"warp analyze --json =":             "false\ntrue",
		"warp analyze --analyze.op GET --q": "--quiet",
	} {
		args := append([]string{"--norc", "-c", script, "bash", completionScript(t, "bash")}, strings.Fields(words)...)
		out, err := exec.Command(needTool(t, "bash"), args...).CombinedOutput()
		if want += "\ncomplete -o default -F _warp warp\n"; err != nil || string(out) != want {
			t.Errorf("%s: %q, %v, want %q", words, out, err, want)
		}
	}
}

func TestCompletionFish(t *testing.T) {
	t.Parallel()
	fish := needTool(t, "fish")
	for line, want := range map[string]string{
		"warp an":                      "analyze",
		"warp analyze --analyze.of":    "--analyze.offset",
		"warp completion z":            "zsh",
		"warp analyze --json=t":        "--json=true",
		"warp analyze --analyze.v --q": "--quiet",
		"warp analyze --json anal":     "analyze.csv.zst",
	} {
		cmd := exec.Command(fish, "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, completionScript(t, "fish"), line)
		cmd.Dir = t.TempDir()
		check.OK(t, os.WriteFile(filepath.Join(cmd.Dir, "analyze.csv.zst"), nil, 0o644))
		cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %q, %v, want %q", line, out, err, want)
		}
	}
}

// TestCompletionZsh types into a zsh on a terminal of its own, because its
// completion works nowhere else.
func TestCompletionZsh(t *testing.T) {
	t.Parallel()
	zsh := needTool(t, "zsh")
	for typed, want := range map[string]string{
		"warp an\t":                   "warp analyze",
		"warp analyze --analyze.of\t": "warp analyze --analyze.offset",
		"warp completion z\t":         "warp completion zsh",
		"warp analyze --json=t\t":     "warp analyze --json=true",
	} {
		cmd := exec.Command(zsh, "-f", "-i")
		cmd.Env = append(os.Environ(), "TERM=dumb", "PS1=ready> ", "HOME="+t.TempDir())
		screen := startTerminal(t, cmd)
		screen.send("autoload -U compinit; compinit -u -D; unsetopt ZLE_RPROMPT beep; source " + completionScript(t, "zsh") + "; echo loa''ded\n")
		screen.await("loaded")
		screen.send(typed)
		screen.await(want)
	}
}
