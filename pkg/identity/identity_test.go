package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"warp/pkg/oplog"
)

// base are parameters of a run as its log has them, defaults included.
func base() map[string]string {
	return map[string]string{
		"host": "127.0.0.1:9000", "bucket": "warp-benchmark-bucket", "access-key": "minio", "secret-key": "***", "seed": "", "prefix": "",
		"obj.size": "1MiB", "obj.randsize": "false", "min-size": "0", "max-size": "0", "objects": "2500", "concurrent": "20", "rps-limit": "0",
		"duration": "5m", "stages": "", "arrival": "even", "verify": "etag", "pick": "uniform", "unique": "false", "epochs": "0", "range": "false",
		"split.size": "0", "split.concurrent": "16", "split.head": "false", "part.size": "0", "tls": "false", "http2": "false",
		"disable-http-keepalive": "false", "encrypt": "false", "checksum": "", "md5": "false", "host-select": "weighed", "signature": "S3V4",
		"get-distrib": "45", "stat-distrib": "30", "put-distrib": "15", "delete-distrib": "10", "pctput": "0", "list-existing": "false",
		"list-flat": "false", "filelist": "", "add-metadata": "", "reader": "rand", "client-count": "0", "warp-client": "",
	}
}

// changed returns the parameters with pairs of names and values changed.
func changed(pairs ...string) map[string]string {
	p := base()
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i]] = pairs[i+1]
	}
	return p
}

func idOf(t *testing.T, benchmark string, parameters map[string]string, clients int) string {
	t.Helper()
	w := Of(&oplog.Header{Benchmark: benchmark, Parameters: parameters}, clients)
	if len(w.ID) != 16 || w.Unknown != "" {
		t.Fatalf("%v has no identity: %+v", parameters, w)
	}
	return w.ID
}

func TestTheSameWorkload(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]map[string]string{
		"host, token, names, seed": {base(), changed("host", "s3-{1...8}:9000", "access-key", "other", "session-token", "x", "bucket", "mine", "prefix", "p/",
			"seed", "17", "client-id", "3", "benchdata", "x", "max-errors", "5%", "assert", "p99<1ms")},
		"duration":                     {base(), changed("duration", "1h", "warmup", "10s", "autoterm", "true")},
		"units":                        {base(), changed("obj.size", "1048576")},
		"a default that was said":      {base(), changed("part.size", "16MiB")},
		"proportions":                  {base(), changed("get-distrib", "90", "stat-distrib", "60", "put-distrib", "30", "delete-distrib", "20")},
		"an abbreviation":              {changed("pctput", "25", "get-distrib", "75", "put-distrib", "25", "stat-distrib", "0", "delete-distrib", "0"), changed("get-distrib", "3", "put-distrib", "1", "stat-distrib", "0", "delete-distrib", "0")},
		"two ways to give a range":     {changed("obj.size", "1KiB-1MiB"), changed("min-size", "1KiB", "max-size", "1048576")},
		"MD5":                          {changed("checksum", "MD5"), changed("md5", "true")},
		"passes use every object":      {changed("epochs", "2"), changed("epochs", "3", "unique", "true")},
		"ranges that nobody asked for": {base(), changed("split.concurrent", "4")},
		"arrivals of a closed loop":    {base(), changed("arrival", "poisson")},
		"where keys are from":          {base(), changed("signature", "IAM")},
		"names in metadata":            {changed("add-metadata", "a=bcd"), changed("add-metadata", "x=yzw")},
		"sizes of objects that are there": {changed("list-existing", "true", "objects", "0", "obj.size", "10MiB"),
			changed("list-existing", "true", "objects", "0", "obj.size", "1KiB")},
		"clients that were started by hand": {changed("concurrent", "20"), changed("concurrent", "10", "objects", "1250", "client-count", "2", "client-id", "1")},
		"flags that did not exist yet":      {base(), without("pick", "split.size", "split.concurrent", "host-select", "signature", "verify")},
	} {
		if a, b := idOf(t, "mixed", pair[0], 1), idOf(t, "mixed", pair[1], 1); a != b {
			t.Errorf("%s: %s and %s", name, a, b)
		}
	}
	if a, b := idOf(t, "copy", base(), 1), idOf(t, "copy", changed("part.size", "5GiB"), 1); a != b {
		t.Errorf("copy: the default of --part.size makes %s, and the same value %s", a, b)
	}
}

func without(names ...string) map[string]string {
	p := base()
	for _, name := range names {
		delete(p, name)
	}
	return p
}

// One client with ten workers is the same load as ten clients with one.
func TestAllClientsTogether(t *testing.T) {
	t.Parallel()
	one := idOf(t, "get", changed("concurrent", "10", "objects", "1000", "rps-limit", "7", "arrival", "poisson"), 1)
	ten := idOf(t, "get", changed("concurrent", "1", "objects", "100", "rps-limit", "0.7", "arrival", "poisson"), 10)
	if one != ten {
		t.Errorf("one client %s, ten clients %s", one, ten)
	}
	if same := idOf(t, "get", changed("concurrent", "10", "objects", "1000", "rps-limit", "7"), 10); same == one {
		t.Error("ten times the load is the same workload")
	}
	like := func(clients int) string {
		w := Of(&oplog.Header{Benchmark: "mixed", Like: "0123456789abcdef", Parameters: changed("concurrent", strconv.Itoa(20/clients))}, clients)
		return w.ID
	}
	if one, two := like(1), like(2); one != two {
		t.Errorf("a profile sets the objects of all clients: %s and %s", one, two)
	}
	staged := changed("stages", "1m@100..1000, 5m@1000")
	if a, b := idOf(t, "get", staged, 1), idOf(t, "get", changed("stages", "60s@100..1000,5m@1000", "concurrent", "10", "objects", "1250"), 2); a != b {
		t.Errorf("stages have the rates of all clients: %s and %s", a, b)
	}
}

func TestAnotherWorkload(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	add := func(what, id string) {
		if before, ok := seen[id]; ok {
			t.Errorf("%s and %s are the same workload", before, what)
		}
		seen[id] = what
	}
	add("base", idOf(t, "mixed", base(), 1))
	add("another operation", idOf(t, "get", base(), 1))
	for _, pairs := range [][]string{
		{"obj.size", "4MiB"}, {"obj.size", "1MB"}, {"obj.size", "1KiB-1MiB"}, {"obj.size", "exact:4KiB:60,1MiB:40"}, {"obj.size", "lognormal:median=64KiB,sigma=1,max=1GiB"},
		{"obj.randsize", "true"}, {"objects", "2501"}, {"concurrent", "21"}, {"rps-limit", "100"}, {"rps-limit", "100", "arrival", "poisson"},
		{"stages", "1m@100"}, {"verify", "content"}, {"verify", "none"}, {"pick", "zipf:0.99"}, {"unique", "true"}, {"range", "true"},
		{"split.size", "8MiB"}, {"split.size", "8MiB", "split.concurrent", "4"}, {"part.size", "8MiB"}, {"tls", "true"}, {"tls", "true", "http2", "true"},
		{"disable-http-keepalive", "true"}, {"encrypt", "true"}, {"checksum", "CRC32C"}, {"md5", "true"}, {"get-distrib", "50"}, {"add-metadata", "a=rand:16"},
		{"list-existing", "true"}, {"filelist", "names"}, {"reader", "tar"}, {"storage-class", "COLD"}, {"retries", "2"},
	} {
		add(strings.Join(pairs, " "), idOf(t, "mixed", changed(pairs...), 1))
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	mixed := base()
	mixed["concurrent"] = "10 | 20"
	for name, h := range map[string]*oplog.Header{
		"of another tool":            {},
		"without parameters":         {Benchmark: "get"},
		"of clients that differ":     {Benchmark: "get", Parameters: mixed},
		"of several runs":            {Benchmark: "get", Parameters: base(), Merged: []oplog.Origin{{Run: "a", Client: "1"}, {Run: "b", Client: "1"}}},
		"of a script that is broken": {Benchmark: "script", Parameters: base(), Statements: []string{"GIVE 9 OBJECTS"}},
	} {
		if w := Recorded(h); w.ID != "" || w.Unknown == "" || w.Settings != nil {
			t.Errorf("a log %s: %+v", name, w)
		}
	}
	h := &oplog.Header{Benchmark: "get", Parameters: base(), Merged: []oplog.Origin{{Run: "a", Client: "1"}, {Run: "a", Client: "2"}}}
	if got, want := Recorded(h).ID, idOf(t, "get", changed("concurrent", "40", "objects", "5000"), 1); got != want {
		t.Errorf("a merged log of two clients: %s, want %s", got, want)
	}
	h.Workload = &oplog.Workload{ID: "0123456789abcdef"}
	if got := Recorded(h).ID; got != h.Workload.ID {
		t.Errorf("the log names %s, and its workload is %s", h.Workload.ID, got)
	}
}

// The form of the hashed text is part of the edition: whoever changes it makes all identities worthless.
func TestHash(t *testing.T) {
	t.Parallel()
	p := map[string]string{"obj.size": "1MiB", "concurrent": "20", "objects": "2500", "tls": "true", "get-distrib": "1", "put-distrib": "2", "storage-class": "<COLD>"}
	w := Of(&oplog.Header{Benchmark: "mixed", Parameters: p}, 2)
	const text = `{"concurrent":"40","edition":"1","get-distrib":"33.333333333","obj.size":"1048576","objects":"5000","operation":"mixed","put-distrib":"66.666666667","storage-class":"<COLD>","tls":"true"}`
	sum := sha256.Sum256([]byte(text))
	if want := hex.EncodeToString(sum[:])[:16]; w.ID != want {
		t.Errorf("%v has the identity %s, want %s", w.Settings, w.ID, want)
	}
}

// Seeds and names of contexts are no part of a script, but which statements share a context is.
func TestScripts(t *testing.T) {
	t.Parallel()
	of := func(statements ...string) string {
		w := Of(&oplog.Header{Benchmark: "script", Parameters: map[string]string{"tls": "false", "concurrent": "0"}, Statements: statements}, 1)
		if w.ID == "" {
			t.Fatalf("%q: %s", statements, w.Unknown)
		}
		return w.ID
	}
	a := of(`PUT 9 OBJECTS OF SIZE 1 KB IN CONTEXT "one"`, `GET RUNTIME 1 MINUTE IN CONTEXT "one"`)
	if b := of(`put 9 objects of size 1000 b in context "two"`, `GET RUNTIME 60 SECONDS IN CONTEXT "two"`); a != b {
		t.Errorf("%s and %s", a, b)
	}
	for _, other := range [][]string{
		{`PUT 9 OBJECTS OF SIZE 2 KB IN CONTEXT "one"`, `GET RUNTIME 1 MINUTE IN CONTEXT "one"`},
		{`PUT 9 OBJECTS OF SIZE 1 KB IN CONTEXT "one"`, `GET RUNTIME 1 MINUTE IN CONTEXT "two"`},
		{`PUT 9 OBJECTS OF SIZE 1 KB IN CONTEXT "one"`, `GET RUNTIME 2 MINUTES IN CONTEXT "one"`},
	} {
		if of(other...) == a {
			t.Errorf("%q is the same workload", other)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]string{
		{"obj.size", "1048576", "1MiB"}, {"obj.size", "1024-1048576", "1KiB-1MiB"}, {"obj.size", "exact:4096:60", "exact:4096:60"},
		{"part.size", "16777216", "16MiB"}, {"concurrent", "1048576", "1048576"}, {"obj.size", "", ""},
	} {
		if got := Show(test[0], test[1]); got != test[2] {
			t.Errorf("%s=%s is shown as %q, want %q", test[0], test[1], got, test[2])
		}
	}
}

func TestCircumstances(t *testing.T) {
	t.Parallel()
	got := Circumstances(map[string]string{"host": "a:9000", "duration": "5m", "engine": "auto", "timeout": "0s", "concurrent": "20", "bucket": "b", "seed": "1", "stress": "false"})
	if want := map[string]string{"host": "a:9000", "duration": "5m", "bucket": "b"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !MayVary("bucket") || MayVary("host") {
		t.Error("a bucket may differ among repetitions of a run, and a host may not")
	}
}

func TestTableNamesFlagsOnce(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range Table() {
		if slices.Contains(names, s.Flag) {
			t.Errorf("%s occurs twice", s.Flag)
		}
		if names = append(names, s.Flag); s.Role == 0 || (s.Role == Defines) != (s.form != nil) {
			t.Errorf("%s has role %d", s.Flag, s.Role)
		}
	}
}
