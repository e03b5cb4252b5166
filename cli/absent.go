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

// absentCommands are the commands that exist elsewhere.
func absentCommands() map[string]string {
	return map[string]string{"iceberg": notOurs}
}
