package packagetest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
)

// An image is what the Dockerfile makes, as far as that goes without the program that makes images.
type image struct {
	root       string // folder with the files of the last stage
	user, work string
	entrypoint []string
}

// buildImage does what the Dockerfile says, on this machine: its RUN line as it is, but for the folder of its output, and
// the COPY lines of its last stage. What it takes from the image that it builds in is not there, and is left out.
func buildImage(t *testing.T, context string, args map[string]string) image {
	t.Helper()
	text := strings.ReplaceAll(string(content(t, filepath.Join(context, "Dockerfile"))), "\\\n", " ")
	out := t.TempDir()
	i := image{root: t.TempDir()}
	stage := ""
	var defined, env []string
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "FROM":
			stage = rest
		case "ARG":
			name, value, _ := strings.Cut(rest, "=")
			defined = append(defined, name)
			if given, ok := args[name]; ok {
				value = given
			}
			env = append(env, name+"="+value)
		case "RUN":
			if strings.Contains(rest, "/out/") {
				commandIn(t, context, env, "sh", "-ec", strings.ReplaceAll(rest, "/out/", out+"/"))
			}
		case "COPY":
			if stage != "scratch" {
				continue
			}
			words := strings.Fields(rest)
			from, to := words[len(words)-2], filepath.Join(i.root, words[len(words)-1])
			if strings.HasSuffix(words[len(words)-1], "/") {
				to = filepath.Join(to, filepath.Base(from))
			}
			copyInto(t, strings.Replace(from, "/out/", out+"/", 1), to)
			if owner, ok := strings.CutPrefix(words[1], "--chown="); ok && os.Getuid() == 0 {
				user, group := ids(t, owner)
				check.OK(t, os.Chown(to, user, group))
			}
		case "USER":
			i.user = rest
		case "WORKDIR":
			i.work = rest
		case "ENTRYPOINT":
			i.entrypoint = strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(`[]", `, r) })
		}
	}
	for name := range args {
		if !slices.Contains(defined, name) {
			t.Errorf("the Dockerfile takes no %s", name)
		}
	}
	return i
}

// ids are the numbers of a user and a group, as 65532:65532.
func ids(t *testing.T, text string) (user, group int) {
	t.Helper()
	if _, err := fmt.Sscanf(text, "%d:%d", &user, &group); err != nil {
		t.Fatalf("%q is not USER:GROUP in numbers, which is all that an image from scratch knows: %v", text, err)
	}
	return user, group
}

func copyInto(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(from, "/etc/") {
		return // a file of the image that it builds in
	}
	check.OK(t, err)
	check.OK(t, os.MkdirAll(filepath.Dir(to), 0o755))
	if info.IsDir() {
		err = os.Mkdir(to, 0o755)
	} else {
		err = os.WriteFile(to, content(t, from), info.Mode().Perm())
	}
	check.OK(t, err)
}
