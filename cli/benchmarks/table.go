// Package benchmarks has the commands that run a benchmark: one file for each operation of package ops, and scripts.
// Each describes its flags, its help, and the names of its requests.
package benchmarks

import (
	"slices"

	"warp/cli/command"
	"warp/pkg/bench"
)

// Operations returns the table of the operations. A new one is a file in pkg/bench/ops
// that does it, a file here that describes it, and a line in this table: help,
// completion, files for warp run, clients and names of operations follow.
func Operations() []benchmark {
	return []benchmark{
		getBenchmark(),
		putBenchmark(),
		deleteBenchmark(),
		listBenchmark(),
		statBenchmark(),
		mixedBenchmark(),
		versionedBenchmark(),
		retentionBenchmark(),
		zipBenchmark(),
		snowballBenchmark(),
		fanoutBenchmark(),
		multipartBenchmark(),
		multipartPutBenchmark(),
		copyBenchmark(),
		appendBenchmark(),
		taggingBenchmark(),
	}
}

// allBenchmarks returns the operations, the benchmark of consistency and the replay.
func allBenchmarks() []benchmark {
	return append(Operations(), consistencyBenchmark(), replayBenchmark())
}

// Commands returns the commands of the operations, and others that send requests.
func Commands(env command.Environment) (all []*command.Command) {
	for _, b := range Operations() {
		all = append(all, benchmarkCommand(env, b))
	}
	return append(all, scriptCommand(env), consistencyCommand(env))
}

// RequestNames returns the names of the requests of all benchmarks, each once.
func RequestNames() (names []string) {
	for _, b := range allBenchmarks() {
		for _, name := range b.requests {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return append(names, "CFG") // of warp aisloader, which has no row in the table of benchmarks
}

// OperationOf returns the operation of a benchmark, nil if there is no benchmark of that name.
func OperationOf(benchmark string) bench.Op {
	for _, b := range allBenchmarks() {
		if b.name == benchmark {
			return b.op
		}
	}
	return nil
}
