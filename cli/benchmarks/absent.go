package benchmarks

import "warp/cli/command"

// Absent returns the flags that no benchmark has.
func Absent() []command.Absent {
	return []command.Absent{
		{Names: []string{"rdma"}, Why: "is not part of this tool", Variables: []string{"WARP_RDMA"}},
		{Names: []string{"rdma.window"}, Why: "is not part of this tool", Variables: []string{"WARP_RDMA_WINDOW"}},
	}
}

// absentFromParts returns the flags that benchmarks of objects in parts lack.
func absentFromParts() []command.Absent {
	return []command.Absent{
		{Names: []string{"obj.size", "min-size", "max-size"}, Why: "is for whole objects: set --part.size and --parts"},
		{Names: []string{"obj.randsize"}, Why: "is for whole objects: all parts but the last have the same size in S3; set --part.size and --parts"},
	}
}
