package runfile

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"warp/internal/suggest"
)

// What a file may have. Aliases are followed by hand, so that a few lines of them cannot become millions of values.
const (
	maxValues     = 20_000
	maxDepth      = 20
	maxBenchmarks = 1000
)

// A reader turns the nodes of YAML into settings.
type reader struct {
	name   string
	from   *expansion
	values int // seen so far
}

func (r *reader) line(n *yaml.Node) int { return r.from.line(n.Line) }

func (r *reader) fail(n *yaml.Node, format string, args ...any) *Error {
	return fail(r.name, r.line(n), format, args...)
}

var yamlPlace = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// documents returns the roots of the YAML documents. Empty ones are left out.
func (r *reader) documents() (all []*yaml.Node, err error) {
	d := yaml.NewDecoder(bytes.NewReader(r.from.text))
	for {
		var n yaml.Node
		err := d.Decode(&n)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, r.syntax(err)
		case n.Kind != yaml.DocumentNode || len(n.Content) == 0 || unset(n.Content[0]):
			continue
		}
		all = append(all, n.Content[0])
	}
}

// syntax words an error of the YAML reader.
func (r *reader) syntax(err error) error {
	text, line := err.Error(), 0
	if m := yamlPlace.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		line, text = r.from.line(n), text[len(m[0]):]
	}
	where := ""
	if line > 0 { // the reader names the line of some mistakes, and the one before it of others
		where = " (here or in the next line)"
	}
	return fail(r.name, line, "this is not YAML%s: %s", where, strings.TrimPrefix(text, "yaml: "))
}

// unset reports whether a value is none.
func unset(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!null" || n.Value == "")
}

// A pair is one entry of a mapping.
type pair struct {
	name       string
	key, value *yaml.Node
}

// pairs returns the entries of a mapping, its own before what << brings.
func (r *reader) pairs(n *yaml.Node, path string, depth int) ([]pair, error) {
	if depth > maxDepth {
		return nil, r.fail(n, "%s is nested too deeply", path)
	}
	var own []pair
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		value, err := r.follow(n.Content[i+1])
		switch {
		case err != nil:
			return nil, err
		case key.Kind != yaml.ScalarNode:
			return nil, r.fail(key, "%s has a key that is not a word", path)
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
			continue
		}
		if first := find(own, key.Value); first != nil {
			return nil, r.fail(key, "%s.%s occurs twice", path, key.Value).withHint("line %d has it first", r.line(first.key))
		}
		own = append(own, pair{key.Value, key, value})
	}
	for _, m := range merged {
		more, err := r.merge(m, path, depth)
		if err != nil {
			return nil, err
		}
		own = withNew(own, more)
	}
	return own, nil
}

// merge returns the entries that << brings: of a mapping, or of a list of mappings, the earlier before the later.
func (r *reader) merge(n *yaml.Node, path string, depth int) ([]pair, error) {
	from := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		from = n.Content
	}
	var all []pair
	for _, m := range from {
		m, err := r.follow(m)
		if err != nil {
			return nil, err
		}
		if m.Kind != yaml.MappingNode {
			return nil, r.fail(n, "%s.<< must have keys to merge, but is %s", path, what(m))
		}
		more, err := r.pairs(m, path, depth+1)
		if err != nil {
			return nil, err
		}
		all = withNew(all, more)
	}
	return all, nil
}

// withNew adds the entries of more whose names are not there yet.
func withNew(all, more []pair) []pair {
	for _, p := range more {
		if find(all, p.name) == nil {
			all = append(all, p)
		}
	}
	return all
}

func find(all []pair, name string) *pair {
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// follow goes to the node of an alias, and counts.
func (r *reader) follow(n *yaml.Node) (*yaml.Node, error) {
	if r.values++; r.values > maxValues {
		return nil, r.fail(n, "there are more than %d values, aliases included", maxValues)
	}
	for range maxDepth {
		if n.Kind != yaml.AliasNode {
			return n, nil
		}
		n = n.Alias
	}
	return nil, r.fail(n, "aliases are nested too deeply")
}

// what names the kind of a value, and not the value: it may be a secret.
func what(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case unset(n):
		return "empty"
	}
	return "a single value"
}

// document reads one YAML document.
func (r *reader) document(n *yaml.Node) ([]Benchmark, error) {
	root, err := r.follow(n)
	if err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, r.fail(root, "the file begins with %s instead of warp:", what(root))
	}
	pairs, err := r.pairs(root, "the file", 0)
	if err != nil {
		return nil, err
	}
	warp := find(pairs, "warp")
	for _, p := range pairs {
		switch {
		case p.name == "warp", strings.HasPrefix(p.name, "x-"):
			continue
		case isTopKey(p.name):
			return nil, r.fail(p.key, "%s belongs below warp:", p.name).withHint("indent it")
		}
		err := r.fail(p.key, "unknown key %q beside warp", p.name)
		if near := suggest.Closest(p.name, []string{"warp"}); near != "" {
			err.withHint("did you mean %s?", near)
		}
		return nil, err
	}
	switch {
	case warp == nil:
		return nil, r.fail(root, "the key warp is missing").withHint("begin with warp: and below it api: v1 and benchmark: NAME")
	case warp.value.Kind != yaml.MappingNode:
		return nil, r.fail(warp.key, "warp must have keys below it, but is %s", what(warp.value))
	}
	return r.warp(warp)
}

// isTopKey reports whether the key belongs right below warp.
func isTopKey(name string) bool {
	return slices.Contains([]string{"api", "benchmark", "benchmarks"}, name) ||
		slices.Contains(plainGroups(), name) || slices.Contains(prefixGroups(), name)
}

// warp reads the settings below the key of that name.
func (r *reader) warp(n *pair) ([]Benchmark, error) {
	pairs, err := r.pairs(n.value, "warp", 1)
	if err != nil {
		return nil, err
	}
	api := find(pairs, "api")
	switch {
	case api == nil:
		return nil, r.fail(n.key, "warp.api is missing").withHint("write api: v1")
	case api.value.Kind != yaml.ScalarNode || api.value.Value != "v1":
		return nil, r.fail(api.key, "warp.api must be v1").withHint("write api: v1")
	}
	one, list := find(pairs, "benchmark"), find(pairs, "benchmarks")
	settings, err := r.settings(pairs, "warp", "", 1)
	if err != nil {
		return nil, err
	}
	switch {
	case one != nil && list != nil:
		return nil, r.fail(list.key, "warp.benchmark and warp.benchmarks cannot be combined").withHint("remove one of them")
	case list != nil:
		return r.list(list, settings)
	case one == nil:
		return nil, r.fail(n.key, "warp.benchmark is missing").withHint("write benchmark: NAME, such as benchmark: get")
	}
	b, err := r.benchmark(one, "warp", settings)
	if err != nil {
		return nil, err
	}
	return []Benchmark{*b}, nil
}

// list reads several benchmarks. The settings outside of the list are for all of them.
func (r *reader) list(list *pair, shared []Setting) (all []Benchmark, err error) {
	switch {
	case list.value.Kind != yaml.SequenceNode:
		return nil, r.fail(list.key, "warp.benchmarks must be a list of benchmarks, but is %s", what(list.value))
	case len(list.value.Content) == 0:
		return nil, r.fail(list.key, "warp.benchmarks is empty")
	case len(list.value.Content) > maxBenchmarks:
		return nil, r.fail(list.key, "warp.benchmarks has more than %d benchmarks", maxBenchmarks)
	}
	for i, n := range list.value.Content {
		path := "warp.benchmarks[" + strconv.Itoa(i) + "]"
		n, err := r.follow(n)
		if err != nil {
			return nil, err
		}
		if n.Kind != yaml.MappingNode {
			return nil, r.fail(n, "%s must have keys such as benchmark: NAME, but is %s", path, what(n))
		}
		pairs, err := r.pairs(n, path, 2)
		if err != nil {
			return nil, err
		}
		name := find(pairs, "benchmark")
		if name == nil {
			return nil, r.fail(n, "%s.benchmark is missing", path).withHint("write benchmark: NAME, such as benchmark: get")
		}
		for _, odd := range []string{"api", "benchmarks"} {
			if p := find(pairs, odd); p != nil {
				return nil, r.fail(p.key, "%s.%s: it is only allowed directly below warp", path, odd)
			}
		}
		own, err := r.settings(pairs, path, "", 2)
		if err != nil {
			return nil, err
		}
		b, err := r.benchmark(name, path, own)
		if err != nil {
			return nil, err
		}
		for _, s := range shared {
			if !slices.ContainsFunc(own, func(o Setting) bool { return o.Flag == s.Flag }) {
				b.Settings = append(b.Settings, s)
			}
		}
		all = append(all, *b)
	}
	return all, nil
}

func (r *reader) benchmark(name *pair, path string, settings []Setting) (*Benchmark, error) {
	if name.value.Kind != yaml.ScalarNode || unset(name.value) {
		return nil, r.fail(name.key, "%s.benchmark must be the name of a benchmark, but is %s", path, what(name.value))
	}
	return &Benchmark{Name: name.value.Value, Line: r.line(name.key), Settings: settings}, nil
}

// settings reads keys and groups of them. group is the prefix group that they are in, "" outside of one. Keys that
// are not settings are left out.
func (r *reader) settings(pairs []pair, path, group string, depth int) (all []Setting, err error) {
	top := group == "" && !strings.Contains(strings.TrimPrefix(path, "warp"), ".") || strings.HasSuffix(path, "]")
	for _, p := range pairs {
		if top && slices.Contains([]string{"api", "benchmark", "benchmarks"}, p.name) || unset(p.value) {
			continue
		}
		var more []Setting
		switch prefix := slices.Contains(prefixGroups(), p.name); {
		case p.value.Kind == yaml.MappingNode && group == "" && (prefix || top && slices.Contains(plainGroups(), p.name)):
			more, err = r.group(&p, path, prefix, depth)
		case group == "" && (prefix && p.name != "autoterm" || top && slices.Contains(plainGroups(), p.name)):
			return nil, r.fail(p.key, "%s.%s must have keys below it, but is %s", path, p.name, what(p.value))
		default:
			more, err = r.setting(&p, path, group)
		}
		if err != nil {
			return nil, err
		}
		for _, s := range more {
			if i := slices.IndexFunc(all, func(o Setting) bool { return o.Flag == s.Flag }); i >= 0 {
				return nil, fail(r.name, s.Line, "%s repeats %s of line %d", s.Path, all[i].Path, all[i].Line).
					withHint("remove one of them")
			}
			all = append(all, s)
		}
	}
	return all, nil
}

func (r *reader) group(p *pair, path string, prefix bool, depth int) ([]Setting, error) {
	path += "." + p.name
	inner, err := r.pairs(p.value, path, depth+1)
	if err != nil {
		return nil, err
	}
	group := ""
	if prefix {
		group = p.name
	}
	return r.settings(inner, path, group, depth+1)
}

// setting reads one key.
func (r *reader) setting(p *pair, path, group string) ([]Setting, error) {
	key := p.name
	if group != "" {
		key = group + "." + key
	}
	s := Setting{Flag: flagOf(key), Path: path + "." + p.name, Key: p.name, Group: group, Line: r.line(p.key)}
	values := []*yaml.Node{p.value}
	switch p.value.Kind {
	case yaml.MappingNode:
		return nil, r.mapping(p, &s)
	case yaml.SequenceNode:
		if s.Flag == marksKey {
			return r.marks(p, s)
		}
		values, s.List = p.value.Content, true
	}
	for _, n := range values {
		n, err := r.follow(n)
		if err != nil {
			return nil, err
		}
		if n.Kind != yaml.ScalarNode || unset(n) {
			return nil, r.fail(n, "%s has an entry that is %s", s.Path, what(n))
		}
		value := strings.TrimRight(n.Value, "\n")
		if value == "" || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' && (c != '\n' || key != "script") || c == 0x7f }) {
			return nil, r.fail(n, "%s has a value with a line break or an invalid character", s.Path)
		}
		s.Values = append(s.Values, value)
	}
	if len(s.Values) == 0 {
		return nil, nil // an empty list is an empty value
	}
	return []Setting{s}, nil
}

// mapping returns an error about keys below a key that is not a group.
func (r *reader) mapping(p *pair, s *Setting) error {
	groups := append(plainGroups(), prefixGroups()...)
	if slices.Contains(groups, p.name) {
		return r.fail(p.key, "the section %s does not belong in %s", p.name, s.Section()).withHint("write it right below warp")
	}
	err := r.fail(p.key, "%s has keys below it, but is not a section", s.Path)
	if near := suggest.Closest(p.name, groups); near != "" {
		err.withHint("did you mean %s?", near)
	}
	return err
}
