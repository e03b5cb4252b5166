// Package anonymous replaces the names in reports by neutral ones, so that a report can be shown to anybody: hosts, buckets,
// objects, clients, paths, runs, and whatever was typed on the command line. Figures stay.
package anonymous

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	shellquote "github.com/kballard/go-shellquote"

	"warp/pkg/results"
)

// Defaults returns the value of a parameter that is not set, and false for parameters that it does not know.
type Defaults func(benchmark, name string) (value string, ok bool)

// Names gives each name a neutral one, the same in all reports.
type Names struct {
	byDefault Defaults
	neutral   map[string]string
	count     map[string]int
	written   map[string]string // neutral names by the names as they are written in texts
	longest   []string          // keys of written, the longest first
}

// New returns names that know the defaults of flags, which identify nobody.
func New(byDefault Defaults) *Names {
	return &Names{byDefault: byDefault, neutral: map[string]string{}, count: map[string]int{}}
}

// Kinds of names.
const (
	host   = "host"
	bucket = "bucket"
	object = "object"
	client = "client"
	run    = "run"
	file   = "file"
	value  = "value"
)

// flagKinds are the flags whose values are names of other kinds than files and values.
var flagKinds = map[string]string{
	"host": host, "warp-client": client, "influxdb": host, "statsd": host, "pushgateway": host, "source-ip": host, "redirect-hosts": host,
	"bucket": bucket, "client-id": client, "credentials-file": file, "filelist": file, "ca-file": file, "client-cert": file, "client-key": file,
	"token-file": file, "warp-ca": file, "upload-ca-file": file, "benchdata": file, "html": file, "pprofdir": file, "syncstart": value,
}

// choices are the flags whose values are words of warp or of S3, not names.
var choices = []string{"engine", "provider", "checksum", "host-select", "verify", "signature", "lookup", "obj.generator", "obj.size", "report", "storage-class",
	"seed", "judge", "analyze.op", "arrival", "pick", "reader", "metrics"}

// Report replaces the names in a report.
func (n *Names) Report(r *results.Report) {
	n.learn(r)
	n.find()
	r.Command = n.command(r)
	for name, text := range r.Parameters {
		r.Parameters[name] = n.setting(r.Benchmark, name, text)
	}
	for i := range r.Statements {
		if r.Staged() {
			break // rates and times are no names
		}
		r.Statements[i] = statement(r.Statements[i])
	}
	if w := r.Workload; w != nil {
		w.Settings = maps.Clone(w.Settings) // the rest of them are numbers and words of warp
		if class, ok := w.Settings["storage-class"]; ok {
			w.Settings["storage-class"] = n.setting(r.Benchmark, "storage-class", class)
		}
	}
	for i := range r.Warnings {
		r.Warnings[i] = aboutMark(r, r.Warnings[i])
	}
	for i := range r.Marks {
		neutral := fmt.Sprintf("mark %d", i+1)
		for _, v := range violations(r) {
			if v.AfterMark == r.Marks[i].Text {
				v.AfterMark = neutral
			}
		}
		r.Marks[i].Text = neutral
	}
	if l := r.ClientLoad; l != nil {
		l.Machine, l.Link = "", ""
	}
	n.value(reflect.ValueOf(r).Elem(), "")
}

// find prepares the search for the names, the longest first, as stores and clients write them: as they are, and escaped for a URL
// or a document.
func (n *Names) find() {
	n.written = map[string]string{}
	for name, neutral := range n.neutral {
		escaped := strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
		for _, form := range []string{url.PathEscape(name), (&url.URL{Path: name}).EscapedPath(), escaped, strings.ReplaceAll(escaped, "%2F", "/"), html.EscapeString(name)} {
			n.written[form] = neutral
		}
	}
	maps.Copy(n.written, n.neutral) // which has precedence
	n.longest = slices.SortedFunc(maps.Keys(n.written), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
}

// markWarning matches what a warning says about a planned mark and its command, whose output may contain anything.
var markWarning = regexp.MustCompile(`(the (?:command of the )?mark )("(?:[^"\\]|\\.)*")([^:]*)(:.*)?`)

// aboutMark replaces the text of a mark in a warning about it, and leaves out what its command has printed.
func aboutMark(r *results.Report, warning string) string {
	m := markWarning.FindStringSubmatchIndex(warning)
	if m == nil {
		return warning
	}
	part := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return warning[m[2*i]:m[2*i+1]]
	}
	name := `"…"`
	for i := range r.Marks {
		if part(2) == strconv.Quote(r.Marks[i].Text) {
			name = fmt.Sprintf(`"mark %d"`, i+1)
		}
	}
	output := ""
	if part(4) != "" {
		output = ": (output)"
	}
	return warning[:m[0]] + part(1) + name + part(3) + output
}

// learn collects the names in a report.
func (n *Names) learn(r *results.Report) {
	for _, id := range r.Runs {
		n.name(run, id)
	}
	if r.Replay != nil {
		n.name(run, r.Replay.Run)
		n.path(file, r.Replay.Log)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		n.setting(r.Benchmark, name, r.Parameters[name])
	}
	n.command(r)
	for i := range r.Operations {
		o := &r.Operations[i]
		for k := range o.Hosts {
			n.endpoint(host, o.Hosts[k].Name)
		}
		for k := range o.ByClient {
			n.endpoint(client, o.ByClient[k].Name)
			n.name(run, o.ByClient[k].Run)
		}
		for k := range o.Slowest {
			s := &o.Slowest[k]
			n.path(object, s.Key)
			n.endpoint(host, s.Host)
			n.endpoint(client, s.Client)
			n.name(run, s.Run)
		}
		for _, e := range slices.Concat(o.FirstErrors, o.WarmUp.FirstErrors, o.Late.FirstErrors) {
			n.endpoint(host, e.Endpoint)
		}
	}
	for _, v := range violations(r) {
		n.path(object, v.Key)
		for _, e := range v.History {
			n.path(object, e.Key)
			n.endpoint(host, e.Host)
			n.endpoint(client, e.Client)
		}
	}
}

// violations returns what proves that the store broke its promises.
func violations(r *results.Report) (all []*results.Violation) {
	if r.Consistency == nil {
		return nil
	}
	for i := range r.Consistency.Properties {
		for k := range r.Consistency.Properties[i].Shown {
			all = append(all, &r.Consistency.Properties[i].Shown[k])
		}
	}
	return all
}

// name returns the neutral name.
func (n *Names) name(kind, name string) string {
	if name == "" {
		return ""
	}
	if n.neutral[name] == "" {
		n.count[kind]++
		n.neutral[name] = fmt.Sprintf("%s-%d", kind, n.count[kind])
	}
	return n.neutral[name]
}

// also gives a part of a name the same neutral name, if it is long enough not to be found everywhere.
func (n *Names) also(part, neutral string) {
	const min = 3
	if len(part) >= min && n.neutral[part] == "" && !plainNumber.MatchString(part) {
		n.neutral[part] = neutral
	}
}

// commonFolders are folders whose names identify nobody.
var commonFolders = []string{"home", "root", "Users", "usr", "var", "tmp", "etc", "opt", "mnt", "bin", "data", "logs", "log", "srv", "run", "dev", "warp"}

// path returns the neutral name of a path or a key, whose parts may also occur by themselves.
func (n *Names) path(kind, text string) string {
	neutral := n.name(kind, text)
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' || r == '=' || r == ',' || r == ';' }) {
		if !slices.Contains(commonFolders, part) {
			n.also(part, neutral)
		}
	}
	return neutral
}

// endpoint returns the neutral name of a host, with its scheme. With a port, without it, and without its domain the host is the
// same.
func (n *Names) endpoint(kind, endpoint string) string {
	scheme, address, ok := strings.Cut(endpoint, "://")
	if !ok {
		scheme, address = "", endpoint
	}
	address = strings.TrimRight(address, "/")
	bare := address
	if i := strings.LastIndexByte(address, ':'); i > 0 && !strings.HasSuffix(address, "]") {
		bare = address[:i]
	}
	neutral := n.name(kind, address)
	n.also(bare, neutral)
	if short, domain, ok := strings.Cut(bare, "."); ok && !address4.MatchString(bare) {
		n.also(short, neutral)
		n.also(domain, "domain")
	}
	if scheme != "" && neutral != "" {
		n.neutral[endpoint] = scheme + "://" + neutral
		return n.neutral[endpoint]
	}
	return neutral
}

var (
	plainNumber = regexp.MustCompile(`^-?\d+(\.\d+)?[a-zA-Zµ%]{0,3}([,:*-]\d+(\.\d+)?[a-zA-Zµ%]{0,3})*$`)
	address4    = regexp.MustCompile(`^\d{1,3}(\.\d{1,3}){3}$`)
	plainWord   = regexp.MustCompile(`^[A-Za-z-]+$`)
)

// setting returns the value of a flag without names: numbers, defaults and words of warp stay.
func (n *Names) setting(benchmark, flag, text string) string {
	kind, named := flagKinds[flag]
	standard, known := "", false
	if n.byDefault != nil {
		standard, known = n.byDefault(benchmark, flag)
	}
	switch {
	case text == "" || flag == "host" && text == "embedded" || text == "true" || text == "false" || known && text == standard:
		return text
	case named && (kind == host || kind == client || kind == bucket):
		var parts []string
		for part := range strings.SplitSeq(text, ",") {
			if kind == bucket {
				parts = append(parts, n.name(kind, part))
			} else {
				parts = append(parts, n.endpoint(kind, part))
			}
		}
		return strings.Join(parts, ",")
	case named:
		return n.path(kind, text)
	case plainNumber.MatchString(text), slices.Contains(choices, flag) && plainWord.MatchString(text):
		return text
	}
	return n.path(value, text)
}

// command returns the command line without names. Words that are neither a flag nor the benchmark are names.
func (n *Names) command(r *results.Report) string {
	words, err := shellquote.Split(r.Command)
	if err != nil || len(words) == 0 {
		return ""
	}
	shown := []string{"warp"}
	last := "" // flag that the next word may belong to
	for _, word := range words[1:] {
		flag, text, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case !strings.HasPrefix(word, "-") && (word == r.Benchmark || plainNumber.MatchString(word)):
			shown, last = append(shown, word), ""
		case !strings.HasPrefix(word, "-"):
			shown, last = append(shown, n.setting(r.Benchmark, last, word)), ""
		case joined:
			shown, last = append(shown, "--"+flag+"="+n.setting(r.Benchmark, flag, text)), ""
		default:
			shown, last = append(shown, word), flag
		}
	}
	return strings.Join(shown, " ")
}

// statement keeps what a statement of a script does, and its numbers.
func statement(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		if !plainNumber.MatchString(w) && (w != strings.ToUpper(w) || !plainWord.MatchString(w)) {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ")
}

// kept are the fields whose strings are warp's words or figures.
var kept = []string{"Benchmark", "Engine", "Warp", "End", "Kind", "Operations", "Op", "WindowBasis", "Verdict", "Figure", "State", "By", "From", "To",
	"Result", "Unit", "DurationHDR", "ResponseHDR", "CPUs", "Command", "Parameters", "Statements", "Workload"}

// value replaces the names in all strings that v contains, also in fields that will be added.
func (n *Names) value(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n.value(v.Elem(), field)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(kept, f.Name) || f.Name == "Operations" && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
				n.value(v.Field(i), f.Name)
			}
		}
	case reflect.Slice, reflect.Array:
		if kind := v.Type().Elem().Kind(); kind >= reflect.Bool && kind <= reflect.Complex128 {
			return
		}
		for i := range v.Len() {
			n.value(v.Index(i), field)
		}
	case reflect.Map:
		n.keys(v)
	case reflect.String:
		if v.CanSet() {
			v.SetString(n.Text(v.String()))
		}
	}
}

// keys replaces the names in the keys of a map, such as codes of errors, which come from the store.
func (n *Names) keys(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		return
	}
	for _, key := range v.MapKeys() {
		if clean := n.Text(key.String()); clean != key.String() {
			content := v.MapIndex(key)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(reflect.ValueOf(clean).Convert(v.Type().Key()), content)
		}
	}
}

// shapes are what looks like a name in free text, and what is shown instead.
var shapes = []struct {
	look *regexp.Regexp
	show string
}{
	{regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>,;\x00]+`), "(address)"},
	{regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`), "(address)"},
	{regexp.MustCompile(`\[[0-9a-fA-F:%.a-z]*:[0-9a-fA-F:%.a-z]*\](:\d+)?`), "(address)"},
	{regexp.MustCompile(`\b[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{0,4}){3,}\b`), "(address)"},
	{regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+`), "(address)"},
	{regexp.MustCompile(`\b([A-Za-z0-9_-]+\.)+[A-Za-z]{2,}(:\d+)?\b`), "(name)"},
	{regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9-]*:\d{2,5}\b`), "(address)"},
	{regexp.MustCompile(`(^|[\s"'(=:])(~|\.{1,2})?([/\\][^\s/\\"'<>,;:\x00]+)+[/\\]?`), "$1(path)"},
	{regexp.MustCompile(`\b[A-Za-z]:\\[^\s"'<>,;]+`), "(path)"},
	{regexp.MustCompile(`\b[A-Za-z0-9_+/=-]*\d[A-Za-z0-9_+/=-]*[A-Za-z][A-Za-z0-9_+/=-]{14,}`), "(id)"},
	{regexp.MustCompile(`\b[A-Za-z0-9+_=-]{24,}\b`), "(id)"},
}

// Text replaces the names of the reports in free text, and what looks like an address, a path or an id.
func (n *Names) Text(text string) string {
	text, found := n.replace(text)
	for _, s := range shapes {
		text = s.look.ReplaceAllStringFunc(text, func(match string) string {
			if isMetric(match) {
				return match
			}
			return s.look.ReplaceAllString(match, s.show)
		})
	}
	for i, neutral := range found {
		text = strings.Replace(text, place(i), neutral, 1)
	}
	return text
}

// place returns a placeholder for a replaced name until all names are replaced, because neutral names look like names.
func place(i int) string { return fmt.Sprintf("\x00%d\x00", i) }

// isMetric reports whether a word is a metric of an operation, as in assertions.
func isMetric(word string) bool {
	_, metric, _ := strings.Cut(word, ".")
	_, ok := results.FindMetric(strings.TrimSuffix(strings.ToLower(metric), ".change"))
	return ok
}

// replace puts places where known names are words of their own, the longest first, and returns the neutral names for them.
func (n *Names) replace(text string) (string, []string) {
	var b strings.Builder
	var found []string
	text = strings.ReplaceAll(text, "\x00", "")
next:
	for i := 0; i < len(text); {
		if i == 0 || !inName(text[i-1]) || !inName(text[i]) || escapedByte.MatchString(text[max(0, i-3):i]) {
			for _, name := range n.longest {
				end := i + len(name)
				if end <= len(text) && strings.EqualFold(text[i:end], name) && (end == len(text) || !inName(text[end]) || !inName(name[len(name)-1])) {
					b.WriteString(place(len(found)))
					found = append(found, n.written[name])
					i = end
					continue next
				}
			}
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String(), found
}

// escapedByte matches a byte in a URL, after which another word begins.
var escapedByte = regexp.MustCompile(`^%[0-9A-Fa-f]{2}$`)

// inName reports whether a byte is part of a word, so that a short name is not found within another one.
func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}
