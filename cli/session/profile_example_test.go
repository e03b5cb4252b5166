package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"warp/cli/command"
	"warp/cli/session"
)

func ExampleProfileFlags() {
	dir, err := os.MkdirTemp("", "profile")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var f session.ProfileFlags
	noVariables := func(string) (string, bool) { return "", false }
	table := command.NewTable([]*command.Command{{Name: "get", Groups: []command.Group{{Flags: f.Flags()}}}}, noVariables)
	if _, err := table.Parse([]string{"get", "--mem", "--threads", "--pprofdir=" + dir}); err != nil {
		fmt.Println(err)
		return
	}
	files, err := f.Open()
	err = errors.Join(err, files.Begin())
	// Here warp measures.
	err = errors.Join(err, files.End())
	written, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range written {
		fmt.Println(filepath.Base(path))
	}
	fmt.Println(err)
	// Output:
	// mem.pprof
	// threads.pprof
	// <nil>
}
