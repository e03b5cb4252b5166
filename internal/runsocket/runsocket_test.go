package runsocket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
)

// place is an environment with a runtime folder of its own. The path of a socket
// must be short.
func place(t *testing.T) (env func(string) (string, bool), dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "rs")
	check.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	check.OK(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
	vars := map[string]string{"XDG_RUNTIME_DIR": dir, "TMPDIR": filepath.Join(dir, "tmp")}
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }, filepath.Join(dir, "warp")
}

// own are the runs with the prefix: the machine may have others.
func own(t *testing.T, env func(string) (string, bool), prefix string) (runs []Info) {
	t.Helper()
	all, err := List(t.Context(), env)
	check.OK(t, err)
	for _, r := range all {
		if strings.HasPrefix(r.ID, prefix) {
			runs = append(runs, r)
		}
	}
	return runs
}

func TestMark(t *testing.T) {
	t.Parallel()
	env, dir := place(t)
	prefix := fmt.Sprint("mark", os.Getpid())
	if runs := own(t, env, prefix); len(runs) > 0 {
		t.Fatalf("runs %v", runs)
	}
	at := time.Date(2026, 1, 31, 12, 0, 0, 123, time.UTC)
	var got []string
	mark := func(text string) (Marked, error) {
		if text == "refused" {
			return Marked{}, errors.New("no place for a mark")
		}
		got = append(got, text)
		return Marked{at, text}, nil
	}
	for i, id := range []string{prefix + "b", prefix + "a"} {
		s, err := Listen(env, Info{ID: id, Command: "get", Start: at.Add(time.Duration(i))}, mark)
		check.OK(t, err)
		defer s.Close()
	}
	runs := own(t, env, prefix)
	if len(runs) != 2 || runs[0].ID != prefix+"b" || runs[0].Command != "get" || runs[0].PID != os.Getpid() {
		t.Fatalf("runs %+v", runs)
	}
	m, err := Mark(t.Context(), runs[1], "disk \"pulled\"\n")
	if err != nil || !m.At.Equal(at) || len(got) != 1 || got[0] != "disk \"pulled\"\n" {
		t.Errorf("%+v, %v, got %q", m, err, got)
	}
	if _, err := Mark(t.Context(), runs[0], "refused"); err == nil || err.Error() != "no place for a mark" {
		t.Error(err)
	}
	if _, err := Mark(t.Context(), runs[0], strings.Repeat("x", 2*maxMessage)); err == nil {
		t.Error("a request of 8 KiB was taken")
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Whoever says nothing, or nonsense, does not keep others from being answered.
func TestStrangeRequests(t *testing.T) {
	t.Parallel()
	env, dir := place(t)
	id := fmt.Sprint("strange", os.Getpid())
	s, err := Listen(env, Info{ID: id}, func(text string) (Marked, error) { return Marked{Text: text}, nil })
	check.OK(t, err)
	defer s.Close()
	path := filepath.Join(dir, fmt.Sprintf("%s.%d.sock", id, os.Getpid()))
	for _, text := range []string{"", "{", "null\n", "[1]\n", "\x00\xff", strings.Repeat("{", 100000)} {
		c, err := net.Dial("unix", path)
		check.OK(t, err)
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, text)
	}
	if runs := own(t, env, id); len(runs) != 1 {
		t.Errorf("runs %v", runs)
	}
}

// A socket that a killed run has left is removed; a living process keeps its own.
func TestStaleSockets(t *testing.T) {
	t.Parallel()
	env, dir := place(t)
	check.OK(t, os.Mkdir(dir, 0o700))
	dead := exec.Command(os.Args[0], "-test.run=^$")
	check.OK(t, dead.Run())
	paths := map[string]bool{
		filepath.Join(dir, fmt.Sprintf("killed.%d.sock", dead.Process.Pid)): false,
		filepath.Join(dir, fmt.Sprintf("begins.%d.sock", os.Getpid())):      true,
		filepath.Join(dir, "else.txt"):                                      true,
	}
	for path := range paths {
		if strings.HasSuffix(path, ".txt") {
			_ = os.WriteFile(path, nil, 0o600)
			continue
		}
		l, err := net.Listen("unix", path)
		check.OK(t, err)
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		_ = l.Close()
	}
	if runs := own(t, env, "killed"); len(runs) > 0 {
		t.Errorf("runs %v", runs)
	}
	for path, stays := range paths {
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

// A folder that others can reach is not used.
func TestFoldersOfOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("folders have no owner there")
	}
	env, dir := place(t)
	check.OK(t, os.Mkdir(dir, 0o700))
	check.OK(t, os.Chmod(dir, 0o770))
	if err := (folder{dir}).check(); err == nil || !strings.Contains(err.Error(), "open to others") {
		t.Error(err)
	}
	link := dir + "-link"
	check.OK(t, os.Symlink(dir, link))
	if err := (folder{link}).make(); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link is taken for a folder: %v", err)
	}
	if s, err := Listen(env, Info{ID: "other"}, nil); err == nil {
		s.Close()
		t.Error("a run listens in an open folder")
	}
	temp := func(name string) (string, bool) {
		if name == "XDG_RUNTIME_DIR" {
			return "", false
		}
		return env(name)
	}
	all := folders(temp)
	last := all[len(all)-1].path
	if err := (folder{last}).make(); err != nil || filepath.Dir(last) != filepath.Join(filepath.Dir(dir), "tmp") {
		t.Errorf("%s: %v", last, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("the socket is in the open folder: %v", entries)
	}
}
