package identity

import "slices"

// A Role says what a flag has to do with the identity of a workload.
type Role int

// The roles. Only the first is in the identity.
const (
	Defines   Role = iota + 1 // the load
	Length                    // how long it lasts: named where it differs
	Condition                 // the circumstances, which may change the figures: named where they differ
	Place                     // the same, but repetitions of a run may differ in it
	Other                     // nothing of this: where results go, credentials, names, limits
)

// A Setting says what a flag of benchmarks has to do with the identity.
type Setting struct {
	Flag  string
	Role  Role
	Usual string // the value that changes nothing, besides "", "0" and "false": without the flag it would be the same
	Bytes bool   // the setting is a number of bytes, or a range
	Kind  bool   // runs that differ in it are of different kinds
	form  form   // of a flag that defines the load
}

const usualSignature = "S3V4"

// Table returns all flags of all benchmarks. A test fails for one that is missing.
//
// The Usual value of a new flag must mean what warp did before; otherwise the edition changes.
func Table() []Setting { return table }

var table = buildTable()

func buildTable() []Setting {
	all := slices.Concat(objectSettings(), requestSettings(), rateSettings(), transportSettings(), aisloaderSettings())
	for i := range all {
		all[i].Role = Defines
	}
	return append(all, otherSettings()...)
}

// objectSettings returns the settings of the objects.
func objectSettings() []Setting {
	return []Setting{
		{Flag: "objects", form: objects},
		{Flag: "working-set", form: elsewhere}, // objects
		{Flag: "obj.size", form: uploaded(sizes), Bytes: true, Kind: true},
		{Flag: "obj.randsize", form: uploaded(toggle), Kind: true},
		{Flag: "min-size", form: elsewhere}, // obj.size
		{Flag: "max-size", form: elsewhere},
		{Flag: "versions", form: number, Usual: "1"},
		{Flag: "list-existing", form: toggle},
		{Flag: "list-flat", form: with("list-existing", toggle)},
		{Flag: "filelist", form: given},
		{Flag: "obj.generator", form: uploaded(word), Usual: "random"},
		{Flag: "obj.compressible", form: uploaded(number)},
		{Flag: "obj.dedup", form: uploaded(number)},
		{Flag: "reader", form: uploaded(source), Usual: "rand"},
		{Flag: "noprefix", form: toggle},
		{Flag: "putshards", form: number},
		{Flag: "randomname", form: toggle},
	}
}

// requestSettings returns the settings of the requests.
func requestSettings() []Setting {
	return []Setting{
		{Flag: "range", form: toggle, Kind: true},
		{Flag: "range-size", form: size, Bytes: true, Kind: true},
		{Flag: "read-offset", form: size, Bytes: true},
		{Flag: "read-length", form: size, Bytes: true},
		{Flag: "split.size", form: size, Bytes: true},
		{Flag: "split.concurrent", form: with("split.size", number)},
		{Flag: "split.head", form: with("split.size", toggle)},
		{Flag: "part.size", form: partSize, Bytes: true, Kind: true},
		{Flag: "part.concurrent", form: number},
		{Flag: "parts", form: number},
		{Flag: "disable-multipart", form: toggle},
		{Flag: "post", form: toggle},
		{Flag: "batch", form: number},
		{Flag: "max-keys", form: number},
		{Flag: "metadata", form: toggle},
		{Flag: "files", form: number},
		{Flag: "objs.per", form: number},
		{Flag: "compress", form: toggle},
		{Flag: "copies", form: number},
		{Flag: "tags", form: number},
		{Flag: "get-distrib", form: share},
		{Flag: "stat-distrib", form: share},
		{Flag: "put-distrib", form: share},
		{Flag: "delete-distrib", form: share},
		{Flag: "pctput", form: percentPuts},
		{Flag: "unique", form: everyObject},
		{Flag: "pick", form: word, Usual: "uniform"},
		{Flag: "verify", form: word, Usual: "etag"},
		{Flag: "retries", form: number},
		{Flag: "input", form: elsewhere}, // the statements
		{Flag: "script", form: elsewhere},
		{Flag: "only", form: elsewhere}, // the properties
		{Flag: "skip", form: elsewhere},
	}
}

// rateSettings returns the settings that say how many requests there are at a time, and when.
func rateSettings() []Setting {
	return []Setting{
		{Flag: "concurrent", form: unlessScript(total)},
		{Flag: "rps-limit", form: total},
		{Flag: "arrival", form: arrival, Usual: "even"},
		{Flag: "stages", form: stages},
		{Flag: "like", form: elsewhere}, // the digest of the profile
		{Flag: "scale", form: number, Usual: "1"},
		{Flag: "speed", form: number, Usual: "1"},
		{Flag: "client-count", form: elsewhere}, // what all clients do together
		{Flag: "host-select", form: word, Usual: "weighed"},
	}
}

// transportSettings returns the settings that say how requests are sent.
func transportSettings() []Setting {
	return []Setting{
		{Flag: "tls", form: toggle},
		{Flag: "http2", form: toggle},
		{Flag: "disable-http-keepalive", form: toggle},
		{Flag: "encrypt", form: toggle},
		{Flag: "sse-s3-encrypt", form: toggle},
		{Flag: "sse-kms-key", form: given},
		{Flag: "checksum", form: checksum},
		{Flag: "md5", form: md5},
		{Flag: "disable-sha256-payload", form: toggle},
		{Flag: "signature", form: signature, Usual: usualSignature},
		{Flag: "storage-class", form: word},
		{Flag: "add-metadata", form: pairs},
		{Flag: "tag", form: pairs},
	}
}

// aisloaderSettings returns the settings that only warp aisloader has.
func aisloaderSettings() []Setting {
	return []Setting{
		{Flag: "numworkers", form: total},
		{Flag: "minsize", form: size, Bytes: true, Kind: true},
		{Flag: "maxsize", form: size, Bytes: true, Kind: true},
		{Flag: "uniquegets", form: everyObject},
		{Flag: "readoff", form: size, Bytes: true},
		{Flag: "readlen", form: size, Bytes: true},
		{Flag: "readertype", form: word},
		{Flag: "verifyhash", form: toggle},
		{Flag: "latest", form: toggle},
		{Flag: "cached", form: toggle},
		{Flag: "etl", form: word},
		{Flag: "etl-spec", form: given},
		{Flag: "getconfig", form: toggle},
		{Flag: "batchsize", form: number},
		{Flag: "cksum-type", form: word},
		{Flag: "loadernum", form: elsewhere}, // what all clients do together
	}
}

// otherSettings returns the settings that do not define the load.
func otherSettings() (all []Setting) {
	add := func(role Role, flags ...string) {
		for _, f := range flags {
			all = append(all, Setting{Flag: f, Role: role})
		}
	}
	add(Length, "duration", "warmup", "max-objects", "total-size", "epochs", "forever", "autoterm", "maxputs", "totalputsize")
	add(Condition, "host", "provider", "region", "resolve-host", "source-ip", "timeout", "sndbuf", "rcvbuf", "ktls", "warp-client", "marks",
		"serverprof", "stress", "trace-http", "implementation",
		"ip", "port", "s3endpoint", "bprops")
	all = append(all, Setting{Flag: "engine", Role: Condition, Usual: "auto"}, Setting{Flag: "lookup", Role: Condition, Usual: "auto"})
	add(Place, "bucket")
	add(Other, // names and credentials
		"prefix", "subdir", "obj.name", "client-id", "seed", "hold-pool", "use-pool", "access-key", "secret-key", "session-token", "access-token",
		"credentials-file", "sts-web-token", "profile", "token-file", "warp-ca", "insecure", "ca-file", "client-cert", "client-key", "redirect-hosts",
		"s3profile", "tokenfile", "loaderid", "loaderidhashlen", "getloaderid")
	add(Other, // when and how a run begins and ends
		"max-errors", "noclear", "keep-data", "clear-bucket", "destroy", "lease", "drain", "allow-dead-hosts", "syncstart", "warp-client-wait",
		"list-timeout", "embedded.memory", "autoterm.dur", "autoterm.pct", "dry-run", "virtual-threads", "log", "cleanup", "skiplist", "tmpdir", "usage")
	add(Other, // where results go, and what is done with them
		"benchdata", "stdout", "stats-interval", "stats-output", "upload", "upload-region", "upload-ca-file", "influxdb", "influxdb-interval",
		"influxdb-every-request", "statsd", "statsd-probe", "metrics", "pushgateway", "web", "serve", "trace-http-sample", "assert", "assert-strict",
		"assert-abort", "junit", "bmf", "gha", "confirm", "pprofdir", "cpu", "mem", "block", "mutex", "threads", "trace", "html",
		"analyze.dur", "analyze.op", "analyze.host", "analyze.skip", "analyze.v", "analyze.out", "analyze.limit", "analyze.offset", "cache", "report", "full",
		"statsinterval", "statsdip", "statsdport", "statsdprobe", "test-probe")
	return all
}
