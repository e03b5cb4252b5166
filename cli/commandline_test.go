package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// A commandLineTest is a command line and what comes of it.
type commandLineTest struct {
	args string
	env  map[string]string
	code int
	want string // part of standard error, or of standard output where the code is 0
}

func TestCommandLineCommand(t *testing.T) {
	t.Parallel()
	runCommandLines(t, []commandLineTest{
		{args: "", code: 0, want: "Usage: warp COMMAND"},
		{args: "--help", code: 0, want: "Usage: warp COMMAND"},
		{args: "help fake", code: 0, want: "Usage: warp fake"},
		{args: "fake -h --nonsense", code: 0, want: "Usage: warp fake"},
		{args: "fake --nonsense -h", code: 0, want: "Usage: warp fake"},
		{args: "fake --tls= --help extra", code: 0, want: "Usage: warp fake"},
		{args: "fake --help", env: map[string]string{"WARP_DURATION": "soon"}, code: 0, want: "Usage: warp fake"},
		{args: "--help fake", code: 0, want: "Usage: warp fake [flags]      "},
		{args: "--json --help fake extra", code: 0, want: "Usage: warp fake [flags]      "},
		{args: "help fake --help-all", code: 0, want: "Usage: warp fake [flags]\n"},
		{args: "--help-all fake", code: 0, want: "Usage: warp fake [flags]\n"},
		{args: "help", code: 0, want: "Usage: warp COMMAND"},
		{args: "help --help-all", code: 0, want: "Exit codes:"},
		{args: "--json --version", code: 0, want: "commit "},
		{args: "-v fake --nonsense", code: 2, want: `warp version takes no arguments, but got "fake"`},
		{args: "help nonsense", code: 2, want: `unknown command "nonsense"; warp --help lists the commands`},
		{args: "analyse x", code: 2, want: `unknown command "analyse"; did you mean warp analyze?`},
		{args: "fkae", code: 2, want: "did you mean warp fake?"},
		{args: "--json", code: 2, want: "no command is given"},
		{args: "iceberg -duration=1m", code: 2, want: "the command iceberg is not part of this tool"},
		{args: "iceberg", code: 2, want: "the command iceberg is not part of this tool"},
		{args: "-v", code: 0, want: "warp "},
		{args: "--version", code: 0, want: "commit "},
		{args: "fake -v", code: 2, want: "unknown flag -v"},
	})
}

func TestCommandLineFlags(t *testing.T) {
	t.Parallel()
	runCommandLines(t, []commandLineTest{
		{args: "fake --obj.sise=1KiB", code: 2, want: "unknown flag --obj.sise; did you mean --obj.size?"},
		{args: "fake --size 4", code: 2, want: "unknown flag --size; did you mean --obj.size?"},
		{args: "fake --nothinglikeit", code: 2, want: "unknown flag --nothinglikeit; warp fake --help lists the flags"},
		{args: "--host=x fake", code: 2, want: "the flag --host must follow a command that has it; write warp COMMAND --host"},
		{args: "fake --host", code: 2, want: "--host needs a value; write --host=HOST"},
		{args: "fake --host --tls", code: 2, want: "--host needs a value"},
		{args: "fake --host=", code: 2, want: "--host has an empty value"},
		{args: "fake --tls=", code: 2, want: "--tls has an empty value"},
		{args: "fake --tls=maybe", code: 2, want: `--tls: "maybe" is neither true nor false`},
		{args: "fake --tls false", code: 2, want: `--tls is a switch and takes no value, but got "false"; write --tls=false`},
		{args: "fake --duration=5", code: 2, want: `--duration: "5" is not a duration; write it like`},
		{args: "fake --duration=-5s", code: 2, want: `--duration: "-5s" is negative`},
		{args: "fake --obj.size=4X", code: 2, want: `--obj.size: "4X" is not a size`},
		{args: "fake --concurrent=many", code: 2, want: `--concurrent: "many" is not a whole number`},
		{args: "fake --max-errors=101%", code: 2, want: `"101%" is not a share`},
		{args: "fake --max-errors=-1", code: 2, want: `"-1" is neither a number`},
		{args: "fake --host-select=random", code: 2, want: `--host-select: "random" is not one of weighed, roundrobin`},
		{args: "fake --stats-interval=1ms", code: 2, want: "--stats-interval: 1ms is too short"},
		{args: "fake extra", code: 2, want: `warp fake takes no arguments, but got "extra"`},
	})
}

// TestCommandLineHints: common mistakes, and the errors that they cause.
func TestCommandLineHints(t *testing.T) {
	t.Parallel()
	rdma := map[string]string{"WARP_RDMA": "1"}
	runCommandLines(t, []commandLineTest{
		{args: "version", code: 0, want: "commit "},
		{args: "get --threads 4", code: 2, want: `--threads is a switch and takes no value, but got "4"; for 4 requests at a time write --concurrent=4`},
		{args: "get --tls 4", code: 2, want: `--tls is a switch and takes no value, but got "4"; leave out "4"`},
		{args: "put -pctput=50", code: 2, want: "unknown flag --pctput; it is a flag of warp mixed"},
		{args: "put -read-length=5", code: 2, want: "unknown flag --read-length; it is a flag of warp get"},
		{args: "get -batch=5", code: 2, want: "unknown flag --batch; it is a flag of warp delete"},
		{args: "mixed -filelist=x", code: 2, want: "unknown flag --filelist; it is a flag of get, delete, stat and copy"},
		{args: "analyze --host=x y", code: 2, want: "unknown flag --host; it is a flag of benchmarks such as warp get"},
		{args: "--cpu analyze x", code: 2, want: "unknown flag --cpu; it is a flag of benchmarks"},
		{args: "--insecure get --dry-run --tls", code: 0, want: "--insecure  true"},
		{args: "--insecure get --dry-run", code: 2, want: "--insecure needs --tls"},
		{args: "--insecure analyze x", code: 2, want: "unknown flag --insecure; it is a flag of benchmarks"},
		{args: "get --statsd=127.0.0.1:0", code: 2, want: `--statsd: "127.0.0.1:0" has port 0, to which nothing can be sent`},
		{args: "get --influxdb=http://token@127.0.0.1:0/b/o", code: 2, want: `--influxdb: "127.0.0.1:0" has port 0, to which nothing can be sent`},
		{args: "get --pushgateway=http://999.1.1.1", code: 2, want: `--pushgateway: "999.1.1.1" is not an IP address`},
		{args: "get --bucket=gs://A_b", code: 2, want: `--bucket: "A_b" is not a bucket name of Google Cloud Storage: it contains 'A'`},
		{args: "get --bucket=az://a_b --host=127.0.0.1:1", code: 2, want: `--bucket: "a_b" is not a bucket name of Azure Blob Storage: it contains '_'`},
		{args: "aisloader -bucket=s3://bucket -pctput=100 -duration=1s -subdir=a\x01b", code: 2, want: "has a character that listings in XML cannot contain"},
		{args: "get --metrics=999.1.1.1:1", code: 2, want: `--metrics: "999.1.1.1" is not an IP address`},
		{args: "get --region=us\x01east", code: 2, want: `is not a region: it has a blank or a control character`},
		{args: "get --dry-run --metrics=127.0.0.1:0", code: 0, want: "Nothing was done"},
		{args: "--cpu --pprofdir=x get --dry-run", code: 0, want: "--pprofdir  x"},
		{args: "get --access-key=x", code: 2, want: "is given without --secret-key"},
		{args: "get --secret-key=x", code: 2, want: "is given without --access-key"},
		{args: "get --session-token=x", code: 2, want: "is given without --access-key and --secret-key"},
		{args: "get --profile=x --access-key=a --secret-key=b", code: 2, want: "--profile and --access-key cannot be combined"},
		{args: "get --dry-run=all -profile=x", env: map[string]string{"WARP_ACCESS_KEY": "a", "WARP_SECRET_KEY": "b"}, code: 0, want: "--access-key        (not set)"},
		{args: "aisloader -getconfig -duration=5s -cleanup=true -bucket=ais://bucket -ip=127.0.0.1 -port=1", code: 1, want: "nothing answers at http://127.0.0.1:1"},
		{args: "aisloader -s3endpoint=http://127.0.0.1:1 -s3profile=nix -bucket=s3://bucket -pctput=100 -duration=1s -cleanup=true", env: map[string]string{"WARP_ACCESS_KEY": "a", "WARP_SECRET_KEY": "b"}, code: 1, want: "AWS profile nix is neither in"},
		{args: "get --host=127.0.0.1:1 -profile=x", env: map[string]string{"WARP_ACCESS_KEY": "a", "WARP_SECRET_KEY": "b"}, code: 1, want: "AWS profile x is neither in"},
		{args: "get --dry-run", env: rdma, code: 2, want: "environment variable WARP_RDMA: --rdma is not part of this tool; unset it"},
		{args: "run x.yml", env: rdma, code: 2, want: "environment variable WARP_RDMA:"},
		{args: "get", env: map[string]string{"WARP_RDMA_WINDOW": "1MiB"}, code: 2, want: "environment variable WARP_RDMA_WINDOW:"},
		{args: "get --dry-run", env: map[string]string{"WARP_RDMA": "false"}, code: 0, want: "Nothing was done"},
		{args: "put --dry-run --obj.size=100MiB --max-objects=10", code: 0, want: "the measurement makes 90 PUT requests"},
		{args: "put --dry-run --obj.size=100MiB --max-objects=10 --disable-multipart", code: 0, want: "the measurement makes 10 PUT requests"},
		{args: "put --dry-run --obj.size=100MiB --max-objects=10 --part.size=50MiB", code: 0, want: "the measurement makes 40 PUT requests"},
		{args: "stat --dry-run --obj.size=100MiB --objects=10", code: 0, want: "the preparation makes 90 PUT requests"},
		{args: "mixed --dry-run --obj.size=100MiB --rps-limit=10 --duration=10s", code: 0, want: "that is about 45 GET, 30 STAT, 135 PUT, 10 DELETE"},
		{args: "multipart --dry-run --parts=3", code: 0, want: "the preparation makes 5 PUT requests, 15 MiB at most"},
		{args: "multipart-put --dry-run --parts=3 --max-objects=10", code: 0, want: "makes 50 UPLOAD, PUTPART requests, 150 MiB at most"},
		{args: "get --dry-run --split.size=1MiB --rps-limit=10 --duration=10s", code: 0, want: "the measurement makes 1,000 GETPART requests, 1000 MiB at most"},
		{args: "get --dry-run --split.size=1MiB --rps-limit=10 --duration=10s --list-existing", code: 0, want: "makes 100 operations at most (--rps-limit × --duration); the sizes of the objects decide how many DOWNLOAD, GETPART requests these take"},
		{args: "get --dry-run --split.size=1MiB --list-existing", code: 0, want: "no flag limits their number"},
		{args: "copy --dry-run --part.size=5MiB --max-objects=7 --list-existing --retries=1", code: 0, want: "makes 7 operations at most (--max-objects); the sizes of the objects decide how many COPY, COPYPART requests these take, up to 2 times"},
		{args: "sweep --dry-run --vary=concurrent=1,2 copy --part.size=5MiB --max-objects=7 --list-existing", code: 0, want: "all runs together make 21 operations at most; the sizes of the objects decide"},
		{args: "stat --dry-run --list-existing --objects=7 --epochs=3", code: 0, want: "the measurement makes 21 STAT requests at most (--epochs)"},
		{args: "delete --dry-run --objects=1050", code: 0, want: "the measurement makes 11 DELETE requests at most (the objects)"},
		{args: "put --dry-run --total-size=1GiB --obj.size=exact:1MiB:1,3MiB:1", code: 0, want: "the measurement makes about 512 PUT requests, 1 GiB (--total-size)"},
		{args: "stat --dry-run --objects=100 --obj.size=exact:1MiB:1,63MiB:1", code: 0, want: "the preparation makes about 350 PUT requests, 3.1 GiB and at most 6.2 GiB"},
		{args: "mixed --dry-run --max-objects=150", code: 0, want: "makes about 1,000 GET, STAT, PUT, DELETE requests, 5.9 GiB (--max-objects)"},
		{args: "snowball --dry-run --objs.per=50 --obj.size=1KiB --max-objects=1000", code: 0, want: "makes 20 PUT requests, 1000 KiB at most (--max-objects)"},
		{args: "fanout --dry-run --copies=50 --obj.size=1KiB --rps-limit=1 --duration=20s", code: 0, want: "makes 20 POST requests, 1000 KiB at most"},
		{args: "get --dry-run --range-size=1KiB", code: 0, want: "downloads parts of them"},
		{args: "get --range-size=1KiB --range=false", code: 2, want: "--range-size and --range=false cannot be combined"},
		{args: "get --obj.size=1KiB,2KiB", code: 2, want: "a range MIN,MAX needs --obj.randsize"},
		{args: "zip --dry-run --part.size=8MiB", code: 0, want: "--part.size  8MiB"},
		{args: "multipart --part.size=1KiB", code: 2, want: "--part.size=1KiB is not between 5MiB and 5GiB"},
		{args: "stat --assert=GET.p99<50ms", code: 2, want: `--assert: "GET.p99<50ms" cannot be measured: the report of this run has no GET; it is about STAT`},
		{args: "stat --assert=throughput>10MiB/s", code: 2, want: `"throughput>10MiB/s" cannot be measured: STAT moves no payload; assert objs, in obj/s`},
		{args: "mixed --assert=DELETE.throughput>10MiB/s", code: 2, want: "DELETE moves no payload"},
		{args: "multipart-put --assert=UPLOAD.throughput>10MiB/s", code: 2, want: "UPLOAD moves no payload"},
		{args: "multipart-put --dry-run --assert=throughput>10MiB/s", code: 0, want: "Nothing was done"},
		{args: "mixed --dry-run --assert=throughput>10MiB/s", code: 0, want: "Nothing was done"},
		{args: "mixed --put-distrib=0 --delete-distrib=0 --assert=PUT.p99<5ms", code: 2, want: "has no PUT; it is about GET, STAT"},
		{args: "put --post --assert=PUT.p99<5ms", code: 2, want: "has no PUT; it is about POST"},
		{args: "put --dry-run --assert=PUT.p99<5ms", code: 0, want: "Nothing was done"},
		{args: "mixed --analyze.op=get --assert=PUT.p99<5ms", code: 2, want: "has no PUT; it is about GET"},
		{args: "get --assert=response.p99<5ms", code: 2, want: "only requests on a schedule have a response time; give --rps-limit"},
		{args: "get --dry-run --rps-limit=5 --assert=response.p99<5ms", code: 0, want: "Nothing was done"},
		{args: "multipart-put --obj.size=1MiB", code: 2, want: "--obj.size is for whole objects: set --part.size and --parts"},
		{args: "multipart --obj.randsize", code: 2, want: "--obj.randsize is for whole objects: all parts but the last have the same size in S3; set --part.size and --parts"},
		{args: "multipart-put --part.size=1KiB", code: 2, want: "--part.size=1KiB is not between 5MiB and 5GiB"},
		{args: "copy --part.size=1KiB", code: 2, want: "--part.size=1KiB is not between 5MiB and 5GiB"},
		{args: "get --dry-run --host=http://a:9000/,http://b", code: 0, want: "requests go to http://a:9000, http://b\n"},
		{args: "get --dry-run --host=https://a:9000", code: 0, want: "requests go to https://a:9000\n"},
		{args: "get --dry-run --host=http://a", env: map[string]string{"WARP_TLS": "true"}, code: 0, want: "requests go to http://a\n"},
		{args: "get --dry-run", env: map[string]string{"WARP_HOST": "https://a"}, code: 0, want: "requests go to https://a\n"},
		{args: "get --host=http://a --tls", code: 2, want: "--host names an http URL and cannot be combined with --tls=true"},
		{args: "get --host=https://a --tls=false", code: 2, want: "cannot be combined with --tls=false"},
		{args: "get --host=http://a,https://b", code: 2, want: "some hosts are URLs of http and others of https"},
		{args: "get --dry-run --host=http://h:51080/s3/", code: 0, want: "requests go to http://h:51080/s3\n"},
		{args: "get --dry-run --tls --host=h{1...2}:9000/s3", code: 0, want: "requests go to https://h1:9000/s3, https://h2:9000/s3\n"},
		{args: "get --host=http://h/a//b", code: 2, want: `the path /a//b has a part that is empty`},
		{args: "get --host=h:9000/s3?x=1", code: 2, want: `'?' cannot be in the path of an endpoint`},
		{args: "get --redirect-hosts=*.com", code: 2, want: `after *. there has to be a domain`},
		{args: "get --redirect-hosts=http://a", code: 2, want: `is a URL: write a`},
		{args: "get --host=ftp://h", code: 2, want: `warp supports http and https, not ftp`},
		{args: "get --host=http://u:p@h", code: 2, want: `an address must not contain keys`},
	})
}

func TestCommandLineAbsentFlags(t *testing.T) {
	t.Parallel()
	runCommandLines(t, []commandLineTest{
		{args: "fake --rdma", code: 2, want: "--rdma is not part of this tool"},
		{args: "cmp --analyze.out=x a b", code: 2, want: "--analyze.out is a flag of analyze"},
	})
}

func TestCommandLineEnvironment(t *testing.T) {
	t.Parallel()
	runCommandLines(t, []commandLineTest{
		{args: "fake", env: map[string]string{"WARP_DURATION": "soon"}, code: 2, want: `environment variable WARP_DURATION: "soon" is not a duration`},
		{args: "fake", env: map[string]string{"WARP_TLS": "yes please"}, code: 2, want: `environment variable WARP_TLS: "yes please" is neither`},
		{args: "fake --host=params", env: map[string]string{"WARP_KTLS": "false", "WARP_DURATION": ""}, code: 0, want: `"duration":"5m"`},
		{args: "fake --host=params --duration=3s", env: map[string]string{"WARP_DURATION": "broken"}, code: 0, want: `"duration":"3s"`},
	})
}

func TestCommandLineArguments(t *testing.T) {
	t.Parallel()
	runCommandLines(t, []commandLineTest{
		{args: "analyze", code: 2, want: "warp analyze needs at least one op log, but got 0 arguments; write warp analyze FILE"},
		{args: "analyze a b", code: 1, want: "cannot open the op log a"},
		{args: "analyze - b", code: 2, want: "standard input cannot be one of several logs"},
		{args: "cmp a", code: 2, want: "warp cmp needs two op logs"},
		{args: "cmp - -", code: 2, want: "standard input is given twice"},
		{args: "merge a", code: 2, want: "warp merge needs at least two op logs"},
		{args: "analyze no-such-file", code: 1, want: "cannot open the op log no-such-file"},
		{args: "analyze .", code: 1, want: ". is a folder, not an op log"},
		{args: "completion tcsh", code: 2, want: `there is no completion for "tcsh"; it exists for bash, fish, zsh`},
	})
}

func TestCommandLineFailures(t *testing.T) {
	t.Parallel()
	runCommandLines(t, []commandLineTest{
		{args: "fake --host=some-fail", code: 3, want: "3 of 100 requests failed"},
		{args: "fake --host=fails", code: 1, want: "second line; start it"},
	})
}

func runCommandLines(t *testing.T, tests []commandLineTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			r := runWarp(t, test.env, strings.Fields(test.args)...)
			text := r.err
			if test.code == 0 {
				text = r.out
			}
			if r.code != test.code || !strings.Contains(text, test.want) {
				t.Errorf("code %d, want %d and %q in:\n%s%s", r.code, test.code, test.want, r.out, r.err)
			}
			if test.code != 0 && (strings.Count(r.err, "\n") != 1 || !strings.HasPrefix(r.err, "warp: error: ") || r.out != "") {
				t.Errorf("want one error line and nothing else, got %q and %q", r.out, r.err)
			}
		})
	}
}

// recorded is what the fake command knows about its command line.
type recorded struct {
	Line   string
	Params map[string]string
}

func record(t *testing.T, env map[string]string, args ...string) recorded {
	t.Helper()
	r := runWarp(t, env, append([]string{"fake", "--host=params"}, args...)...)
	var rec recorded
	if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	return rec
}

func TestFlagValues(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]map[string]string{
		"":                                       {"duration": "5m", "concurrent": "20", "obj.size": "10MiB", "tls": "false", "max-errors": "", "secret-key": ""},
		"-duration=90s -concurrent 3":            {"duration": "1m30s", "concurrent": "3"},
		"--tls":                                  {"tls": "true"},
		"--tls=false":                            {"tls": "false"},
		"--tls --tls=false":                      {"tls": "false"},
		"--duration 1s --duration 2s":            {"duration": "2s"},
		"--add a=1,b --add c=2":                  {"add": "a=1,b,c=2"},
		"--obj.size 4KB":                         {"obj.size": "4KB"},
		"--obj.size=1.5KiB":                      {"obj.size": "1536"},
		"--max-errors 5%":                        {"max-errors": "5%"},
		"--max-errors 0":                         {"max-errors": "0"},
		"--host-select=RoundRobin":               {"host-select": "roundrobin"},
		"--secret-key -starts-with-a-dash --tls": {"secret-key": "***", "tls": "true"},
		"--stress":                               {"stress": "true"},
		"--access-key=--quiet --secret-key=x":    {"access-key": "--quiet"},
		"--access-key -5 --secret-key -":         {"access-key": "-5", "secret-key": "***"},
		"--tls=T --tls=f -obj.size 1MB --":       {"tls": "false", "obj.size": "1MB"},
		"'--add= x' --add=y=z":                   {"add": " x,y=z"},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			got := record(t, nil, splitWords(args)...).Params
			for name, value := range want {
				if got[name] != value {
					t.Errorf("%s is %q, want %q", name, got[name], value)
				}
			}
			for _, name := range []string{"json", "stats-interval"} {
				if _, ok := got[name]; ok {
					t.Errorf("%s is not a parameter of a run", name)
				}
			}
		})
	}
	got := record(t, map[string]string{"WARP_HOST": "elsewhere", "WARP_CONCURRENT": "7", "WARP_TLS": "true", "WARP_SECRET_KEY": "s3cr3tvalue"}).Params
	if got["host"] != "params" || got["concurrent"] != "7" || got["tls"] != "true" || got["secret-key"] != "***" {
		t.Errorf("with variables: %v", got)
	}
}

// TestOutputFlagsBeforeTheCommand: `warp --quiet get` is the same as
// `warp get --quiet`.
func TestOutputFlagsBeforeTheCommand(t *testing.T) {
	t.Parallel()
	r := runWarp(t, nil, "--debug", "-q", "fake", "--host=params")
	if r.code != 0 || !strings.Contains(r.err, "warp: debug: command line: warp --debug -q fake --host=params") {
		t.Errorf("got %+v", r)
	}
}
