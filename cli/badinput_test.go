package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"warp/cli/exit"
	"warp/internal/check"
)

const badInputs = "testdata/badinput.txtar"

// TestBadInputs: whatever is wrong with an input, the answer is one line that says so, and the right exit code. The file has the
// command lines, each followed by its answer, and the files that they name. With -update the answers are written anew.
func TestBadInputs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows has other words for what it refuses")
	}
	data, err := os.ReadFile(badInputs)
	check.OK(t, err)
	archive := txtar.Parse(data)
	dir := t.TempDir()
	names := strings.NewReplacer(append(badStores(t), "$DIR", dir)...)
	writeBadFiles(t, dir, names, archive)
	lines := strings.Split(strings.TrimSuffix(string(archive.Comment), "\n"), "\n")
	answers := slices.Clone(lines)
	var wait sync.WaitGroup
	limit := make(chan struct{}, 4)
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		if i+1 == len(lines) || strings.HasPrefix(lines[i+1], "$") {
			t.Fatalf("%s: no line for the answer to %s", badInputs, line)
		}
		wait.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			answer := badAnswerTo(t, command, names, badNames(names, dir))
			if lines[i+1] != answer && !check.Updating() {
				t.Errorf("%s\n got %s\nwant %s", command, answer, lines[i+1])
			}
			answers[i+1] = answer
		})
	}
	wait.Wait()
	if left, _ := filepath.Glob("warp-*"); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
	if check.Updating() {
		archive.Comment = []byte(strings.Join(answers, "\n") + "\n")
		check.OK(t, os.WriteFile(badInputs, txtar.Format(archive), 0o644))
	}
}

// badAnswerTo runs a command line and returns its exit code and error.
func badAnswerTo(t *testing.T, command string, names, back *strings.Replacer) string {
	words := splitWords(names.Replace(command))
	env := map[string]string{"WARP_HOST": "127.0.0.1:1"} // there may be a store at the default address
	for strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") {
		name, value, _ := strings.Cut(words[0], "=")
		env[name], words = value, words[1:]
	}
	r := runWarp(t, env, words...)
	before, text, ok := strings.Cut(r.err, "warp: error: ")
	if !ok || strings.Count(text, "\n") != 1 || r.out != "" || before != "" && r.code == exit.Usage {
		t.Errorf("%s: want one error line, the last, and before it only what a run says, got code %d and\n%s%s", command, r.code, r.out, r.err)
	}
	if !slices.Contains([]int{exit.Usage, exit.Failed, exit.Requests}, r.code) {
		t.Errorf("%s: exit code %d", command, r.code)
	}
	return fmt.Sprintf("%d: %s", r.code, back.Replace(strings.ReplaceAll(strings.TrimSpace(text), "\n", "⏎")))
}

// splitWords splits a line at blanks outside of single quotes. ” is an empty word.
func splitWords(line string) []string {
	const empty = "\x00"
	words := []string{""}
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			if words[len(words)-1]+part == "" {
				part = empty
			}
			words[len(words)-1] += part
			continue
		}
		fields := strings.Fields(part)
		if i > 0 && len(fields) > 0 && !strings.HasPrefix(part, " ") {
			words[len(words)-1] += fields[0]
			fields = fields[1:]
		}
		if words = append(words, fields...); strings.HasSuffix(part, " ") {
			words = append(words, "")
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	for i := range words {
		words[i] = strings.TrimPrefix(words[i], empty)
	}
	return words
}

// writeBadFiles writes the files of the archive, and logs.
func writeBadFiles(t *testing.T, dir string, names *strings.Replacer, archive *txtar.Archive) {
	t.Helper()
	for _, f := range archive.Files {
		check.OK(t, os.WriteFile(filepath.Join(dir, f.Name), []byte(names.Replace(string(f.Data))), 0o600))
	}
	check.OK(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for i, name := range []string{"run.csv.zst", "other.csv.zst"} {
		check.OK(t, writeLog(filepath.Join(dir, name), i))
	}
}

// badStores are hosts that answer each request alike, none as a store should, by the names that command lines have for them.
func badStores(t *testing.T) (names []string) {
	failed := func(status int, code, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
		}
	}
	says := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, text) }
	}
	for name, handler := range map[string]http.HandlerFunc{
		"@denied":  failed(403, "AccessDenied", "Access Denied."),
		"@nokey":   failed(403, "InvalidAccessKeyId", "The access key does not exist."),
		"@secret":  failed(403, "SignatureDoesNotMatch", "The signature is wrong."),
		"@token":   failed(400, "ExpiredToken", "The token has expired."),
		"@clock":   failed(403, "RequestTimeTooSkewed", "The times differ too much."),
		"@region":  failed(400, "AuthorizationHeaderMalformed", "The region is wrong."),
		"@absent":  failed(501, "NotImplemented", "Not implemented."),
		"@escape":  failed(403, "AccessDenied", "a&#27;[31mb"),
		"@html":    says(200, "<html><body>Welcome</body></html>"),
		"@json":    says(200, `{"hello":1}`),
		"@nothing": says(404, ""),
		"@empty":   says(200, ""),
		"@error":   says(200, "<Error><Code>InternalError</Code><Message>Oh no.</Message></Error>"),
		"@plain":   says(400, "Client sent an HTTP request to an HTTPS server.\n"),
		"@moved": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://other.example/x")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
	} {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		names = append(names, name, server.Listener.Addr().String())
	}
	return names
}

// badNames turns what differs from run to run back into names.
func badNames(names *strings.Replacer, dir string) *strings.Replacer {
	pairs := []string{dir, "$DIR"}
	for _, name := range []string{"@denied", "@nokey", "@secret", "@token", "@clock", "@region", "@absent", "@escape", "@html", "@json", "@nothing",
		"@empty", "@error", "@plain", "@moved"} {
		pairs = append(pairs, names.Replace(name), name)
	}
	return strings.NewReplacer(pairs...)
}
