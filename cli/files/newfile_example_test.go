package files_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"warp/cli/files"
)

func Example() {
	folder, err := os.MkdirTemp("", "example-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "results.xml")
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, "<testsuite/>")
		return err
	}

	// Before the run: could the file be created?
	fmt.Println(files.CheckNew("--junit", path, "name another place"), files.TryFolder("--junit", path))
	// After it.
	fmt.Println(files.WriteNew(path, write))
	// The next run must not overwrite it.
	fmt.Println(files.CheckNew("--junit", path, "name another place") != nil)
	// Output:
	// <nil> <nil>
	// <nil>
	// true
}
