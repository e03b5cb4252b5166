package cli

import (
	"strconv"
	"strings"

	"warp/cli/flagtype"
)

// A foreignValue is how another tool writes the value of a flag that has the
// meaning of one of ours. It is keyed by the name as it was written, so that
// our own spelling of the flag keeps our own values.
type foreignValue struct {
	bare    string // the value where none is given; "" = there must be one
	convert func(string) (value string, err error)
}

// aisloaderValues are the values of aisloader that warp writes in another way.
// Names alone are aliases of our flags. See docs/from-aisloader.md.
func aisloaderValues() map[string]foreignValue {
	binary := foreignValue{convert: binarySize}
	return map[string]foreignValue{
		"minsize": binary, "maxsize": binary, "readoff": binary, "readlen": binary, "totalputsize": binary,
		"statsinterval": {convert: wholeSeconds},
		"cleanup":       {bare: "true", convert: opposite},
		"verifyhash":    {bare: "true", convert: verifyHash},
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
func absentFromAISLoader() []absentFlag {
	only := func(why string, names ...string) absentFlag {
		return absentFlag{names: names, why: "is of AIStore only: " + why}
	}
	return []absentFlag{
		only("buckets of S3 have no such properties; set what the store has with its own tools", "bprops"),
		only("a store that speaks S3 lists what it has", "cached"),
		only("S3 does not transform objects", "etl", "etl-spec"),
		only("S3 has no configuration to read", "getconfig"),
		only("name the store with --host=HOST:PORT", "ip", "port"),
		only("S3 has no remote bucket to compare with", "latest"),
		only("keys of S3 are --access-key and --secret-key, or --profile", "tokenfile"),
		{names: []string{"getloaderid", "loaderidhashlen"}, why: notOurs + ": a client's id is what --client-id says"},
		{names: []string{"tmpdir"}, why: notOurs + ": payload is made in memory, so there are no temporary files"},
		{names: []string{"usage"}, why: notOurs + ": it is --help here"},
		{names: []string{"statsdip", "statsdport"}, why: notOurs + ": it is --statsd=HOST:PORT here"},
		{names: []string{"statsdprobe"}, why: notOurs + ": it is --statsd-probe here"},
		{names: []string{"cksum-type"}, why: notOurs + ": it is --checksum=KIND here"},
		{names: []string{"test-probe"}, why: notYet},
	}
}
