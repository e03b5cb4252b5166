package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// aisloaderFlags are the flags of aisloader's own table.
var aisloaderFlags = strings.Fields(`batchsize bprops bucket cached cksum-type cleanup dry-run duration epochs etl etl-spec
	getconfig getloaderid ip json loaderid loaderidhashlen loadernum maxputs maxsize minsize numworkers pctput latest port
	provider putshards quiet randomname readertype readlen readoff s3endpoint s3profile seed skiplist filelist stats-output
	statsdip statsdport statsdprobe statsinterval subdir test-probe timeout tmpdir tokenfile totalputsize trace-http
	uniquegets usage verifyhash`)

// Every flag of theirs has a row; those that are refused are, and the others work as the row says.
func TestFromAISLoader(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	// What a flag is given, and how that shows in a dry run, where it is not as plain as "1".
	values := map[string][2]string{
		"bucket": {"photos", "--bucket +photos"}, "cleanup": {"false", "--keep-data +true"}, "duration": {"7s", "--duration +7s"}, "filelist": {"keys", "--filelist +keys"},
		"json": {"true", ""}, "quiet": {"true", "--quiet +true"}, "dry-run": {"true", "--dry-run +true"},
		"maxsize": {"8M", "--max-size +8MiB"}, "minsize": {"1K", "--min-size +1KiB"}, "totalputsize": {"8M", "--total-size +8MiB"},
		"readlen": {"2k", "--read-length +2KiB"}, "readoff": {"2k", "--read-offset +2KiB"}, "statsinterval": {"3", "--stats-interval +3s"},
		"provider": {"gcs", "--provider +gcs"}, "randomname": {"true", "--randomname +true"}, "skiplist": {"true", "--skiplist +true"}, "trace-http": {"true", "--trace-http +true"}, "uniquegets": {"true", "--unique +true"},
		"readertype": {"sg", "--reader +sg"}, "s3endpoint": {"http://a:1", "--host +http://a:1"}, "s3profile": {"p", "--profile +p"},
		"verifyhash": {"true", "--verify +checksum"}, "timeout": {"10m", "--timeout +10m"},
	}
	beside := map[string][]string{
		"loaderid": {"-loadernum=4", "-seed=1"}, "loadernum": {"-loaderid=0", "-seed=1"}, "minsize": {"-maxsize=1M"}, "maxsize": {"-minsize=1K"},
	}
	if err := os.WriteFile(filepath.Join(dir, "keys"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	doc := read(t, "docs/from-aisloader.md")
	var documented []string
	for _, row := range doc.tables[0].rows {
		name := strings.TrimPrefix(strings.Trim(row[0], "`"), "-")
		documented = append(documented, name)
		value, shows := "1", ""
		if v, ok := values[name]; ok {
			value, shows = v[0], v[1]
		}
		args := append([]string{"-" + name + "=" + value, "-dry-run"}, beside[name]...)
		if row[1] == "refused" {
			r := warp(t, dir, append([]string{"mixed"}, args...)...)
			if r.code != 2 || !strings.Contains(r.errout, "--"+name+" is ") {
				t.Errorf("warp mixed %q: exit code %d, %q", args, r.code, r.errout)
			}
			continue
		}
		if m := flagMention.FindStringSubmatch(row[1]); m == nil {
			t.Errorf("-%s: %q names no flag", name, row[1])
		} else if shows == "" && name != "json" {
			shows = "--" + m[1] + " +" + value
		}
		command := "get"
		for _, c := range []string{"put", "mixed", "delete"} {
			if slices.Contains(flagsThat[c], name) {
				command = c
			}
		}
		r := mustWarp(t, 0, dir, append([]string{command}, args...)...)
		if !regexp.MustCompile(shows).MatchString(r.out) {
			t.Errorf("warp %s %q does not show %s:\n%s", command, args, shows, r.out)
		}
	}
	same(t, "flags of aisloader", documented, aisloaderFlags)
}

// flagsThat belong to a command other than get.
var flagsThat = map[string][]string{
	"put":    {"maxputs", "totalputsize", "skiplist"},
	"mixed":  {"pctput"},
	"delete": {"batchsize"},
}
