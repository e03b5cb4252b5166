package target_test

import (
	"fmt"

	"warp/cli/command"
	"warp/cli/target"
)

func ExampleFlags() {
	var f target.Flags
	noVariables := func(string) (string, bool) { return "", false }
	groups := []command.Group{f.Group(noVariables), f.Traffic(noVariables, "")}
	get := &command.Command{Name: "get", Groups: groups}
	f.Given = get.WasGiven
	table := command.NewTable([]*command.Command{get}, noVariables)
	for _, args := range [][]string{
		{"get", "--host=node{1...2}:9000", "--bucket=bench{1...2}"},
		{"get", "--bucket=gs://bench"},
		{"get", "--access-key=admin"},
	} {
		if _, err := table.Parse(args); err != nil {
			fmt.Println(err)
			return
		}
		if err := f.Check(); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(f.Provider.Title, f.Hosts, f.Buckets)
	}
	// Output:
	// S3 [node1:9000 node2:9000] [bench1 bench2]
	// Google Cloud Storage [storage.googleapis.com] [bench]
	// --access-key (WARP_ACCESS_KEY) is given without --secret-key (WARP_SECRET_KEY); give both
}
