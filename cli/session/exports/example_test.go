package exports_test

import (
	"fmt"

	"warp/cli/command"
	"warp/cli/session/exports"
)

func ExampleFlags() {
	noVariables := func(string) (string, bool) { return "", false }
	for _, arg := range []string{"--influxdb=http://token@influx:8086/warp/lab?disk=nvme", "--statsd=localhost"} {
		var f exports.Flags
		table := command.NewTable([]*command.Command{{Name: "get", Groups: []command.Group{{Flags: f.Flags(noVariables)}}}}, noVariables)
		if _, err := table.Parse([]string{"get", arg}); err != nil {
			fmt.Println(err)
			return
		}
		if err := f.Check(); err != nil {
			fmt.Println(err)
			continue
		}
		to := f.Destinations().Influx
		fmt.Println(to.Server, to.Bucket, to.Org, to.Tags, to.Interval)
	}
	// Output:
	// http://influx:8086 warp lab map[disk:nvme] 1s
	// --statsd: "localhost" is not a HOST:PORT
}
