package cli

import "warp/cli/command"

const notOurs = "is not part of this tool"

// absentFromBenchmarks are the flags that no benchmark has.
func absentFromBenchmarks() []command.Absent {
	return []command.Absent{
		{Names: []string{"rdma"}, Why: notOurs, Variables: []string{"WARP_RDMA"}},
		{Names: []string{"rdma.window"}, Why: notOurs, Variables: []string{"WARP_RDMA_WINDOW"}},
	}
}

// absentFromParts are the flags that benchmarks of objects in parts lack.
func absentFromParts() []command.Absent {
	return []command.Absent{
		{Names: []string{"obj.size", "min-size", "max-size"}, Why: "is for whole objects: set --part.size and --parts"},
		{Names: []string{"obj.randsize"}, Why: "is for whole objects: all parts but the last have the same size in S3; set --part.size and --parts"},
	}
}

// absentCommands are the commands that exist elsewhere.
func absentCommands() map[string]string {
	return map[string]string{"iceberg": notOurs}
}
