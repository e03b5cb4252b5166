package cli

import (
	"slices"

	"warp/cli/command"
	"warp/pkg/bench"
)

// benchmarks is the table of the operations. A new one is a file in pkg/bench/ops
// that does it, a file here that describes it, and a line in this table: help,
// completion, files for warp run, clients and names of operations follow.
func benchmarks() []benchmark {
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

// operationCommands returns the commands of the operations, and warp script.
func operationCommands(env command.Environment) (all []*command.Command) {
	for _, b := range benchmarks() {
		all = append(all, benchmarkCommand(env, b))
	}
	return append(all, scriptCommand(env))
}

// operations returns the names of the requests of all benchmarks, each once.
func operations() (names []string) {
	for _, b := range benchmarks() {
		for _, name := range b.requests {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return append(names, "CFG") // of warp aisloader, which has no row in the table of benchmarks
}

// operationOf returns the operation of a benchmark, nil if there is no benchmark of that name.
func operationOf(benchmark string) bench.Op {
	for _, b := range benchmarks() {
		if b.name == benchmark {
			return b.op
		}
	}
	return nil
}
