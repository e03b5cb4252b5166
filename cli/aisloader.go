package cli

import (
	"strconv"
	"strings"

	"warp/cli/command"
	"warp/cli/flagtype"
)

// aisloaderValues are the values of aisloader that warp writes in another way.
// Names alone are aliases of our flags. See docs/from-aisloader.md.
func aisloaderValues() map[string]command.ForeignValue {
	binary := command.ForeignValue{Convert: binarySize}
	return map[string]command.ForeignValue{
		"minsize": binary, "maxsize": binary, "readoff": binary, "readlen": binary, "totalputsize": binary,
		"statsinterval": {Convert: wholeSeconds},
		"cleanup":       {Bare: "true", Convert: opposite},
		"verifyhash":    {Bare: "true", Convert: verifyHash},
	}
}

// binarySize makes 8M what it is there: 8 MiB.
func binarySize(s string) (string, error) {
	if n := strings.TrimRight(s, "kKmMgGtT"); len(s)-len(n) == 1 && strings.Trim(n, "0123456789.") == "" {
		return s + "iB", nil
	}
	return s, nil
}

// wholeSeconds makes 10 what it is there: 10 seconds.
func wholeSeconds(s string) (string, error) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return s, nil
	case n == 0:
		return "", flagtype.Wrong("0 turns the lines of progress off, which is --quiet here")
	}
	return s + "s", nil
}

// opposite is for a switch of which ours is the reverse.
func opposite(s string) (string, error) {
	on, err := strconv.ParseBool(s)
	if err != nil {
		return "", flagtype.Wrong("%q is neither true nor false", s)
	}
	return strconv.FormatBool(!on), nil
}

func verifyHash(s string) (string, error) {
	on, err := strconv.ParseBool(s)
	switch {
	case err != nil:
		return "", flagtype.Wrong("%q is neither true nor false", s)
	case on:
		return "checksum", nil
	}
	return "none", nil
}

// absentFromAISLoader are the flags of aisloader that are about AIStore, or
// that have no meaning here.
func absentFromAISLoader() []command.Absent {
	only := func(why string, names ...string) command.Absent {
		return command.Absent{Names: names, Why: "is of AIStore only: " + why}
	}
	return []command.Absent{
		only("buckets of S3 have no such properties; set what the store has with its own tools", "bprops"),
		only("a store that speaks S3 lists what it has", "cached"),
		only("S3 does not transform objects", "etl", "etl-spec"),
		only("S3 has no configuration to read", "getconfig"),
		only("name the store with --host=HOST:PORT", "ip", "port"),
		only("S3 has no remote bucket to compare with", "latest"),
		only("keys of S3 are --access-key and --secret-key, or --profile", "tokenfile"),
		{Names: []string{"getloaderid", "loaderidhashlen"}, Why: notOurs + ": a client's id is what --client-id says"},
		{Names: []string{"tmpdir"}, Why: notOurs + ": payload is made in memory, so there are no temporary files"},
		{Names: []string{"usage"}, Why: notOurs + ": it is --help here"},
		{Names: []string{"statsdip", "statsdport"}, Why: notOurs + ": it is --statsd=HOST:PORT here"},
		{Names: []string{"statsdprobe"}, Why: notOurs + ": it is --statsd-probe here"},
		{Names: []string{"cksum-type"}, Why: notOurs + ": it is --checksum=KIND here"},
		{Names: []string{"test-probe"}, Why: notYet},
	}
}
