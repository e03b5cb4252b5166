package newfile_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"warp/cli/newfile"
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
	fmt.Println(newfile.Check("--junit", path, "name another place"), newfile.TryFolder("--junit", path))
	// After it.
	fmt.Println(newfile.Write(path, write))
	// The next run must not overwrite it.
	fmt.Println(newfile.Check("--junit", path, "name another place") != nil)
	// Output:
	// <nil> <nil>
	// <nil>
	// true
}
