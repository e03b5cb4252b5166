package doctest

import (
	"slices"
	"strings"
	"testing"
)

// aisloaderFlags are the flags in aisloader's own table.
var aisloaderFlags = strings.Fields(`batchsize bprops bucket cached cksum-type cleanup dry-run duration epochs etl etl-spec
	getconfig getloaderid ip json loaderid loaderidhashlen loadernum maxputs maxsize minsize numworkers pctput latest port
	provider putshards quiet randomname readertype readlen readoff s3endpoint s3profile seed skiplist filelist stats-output
	statsdip statsdport statsdprobe statsinterval subdir test-probe timeout tmpdir tokenfile totalputsize trace-http
	uniquegets usage verifyhash`)

// aisloaderDefaults are the defaults in the help, in the form of aisloader's table. The page
// describes the defaults of -cleanup and -epochs.
var aisloaderDefaults = map[string]string{
	"batchsize": "100", "cksum-type": "xxhash", "duration": "1m", "ip": "localhost", "maxsize": "1GiB", "minsize": "1MiB",
	"numworkers": "10", "port": "8080", "provider": "ais", "readertype": "sg", "statsdip": "localhost", "statsdport": "8125",
	"statsinterval": "10", "timeout": "10m", "tmpdir": "/tmp/ais",
}

// Every flag of aisloader is a flag of warp aisloader, with its default.
func TestFromAISLoader(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	help := mustWarp(t, 0, dir, "aisloader", "--help-all").out
	for _, name := range aisloaderFlags {
		at := strings.Index(help, "--"+name+" ")
		if at < 0 {
			at = strings.Index(help, "--"+name+",")
		}
		if at < 0 {
			t.Errorf("warp aisloader has no -%s", name)
			continue
		}
		text := help[at:]
		if end := strings.Index(text[1:], "\n  --"); end >= 0 {
			text = text[:end+1]
		}
		text = strings.Join(strings.Fields(text), " ")
		if want := aisloaderDefaults[name]; want != "" && !strings.Contains(text, "(default "+want+")") {
			t.Errorf("-%s does not have the default %s: %s", name, want, text)
		}
	}
	if len(aisloaderFlags) != 52 || slices.Contains(aisloaderFlags, "") {
		t.Errorf("%d flags", len(aisloaderFlags))
	}
}
