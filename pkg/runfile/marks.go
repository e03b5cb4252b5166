package runfile

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"warp/internal/suggest"
)

// marksKey is the one key whose value is a list of mappings: the marks that are
// planned. The flag takes each of them as JSON.
const marksKey = "marks"

// marks reads the plan of marks.
func (r *reader) marks(p *pair, s Setting) ([]Setting, error) {
	s.List = true
	for _, n := range p.value.Content {
		n, err := r.follow(n)
		if err != nil {
			return nil, err
		}
		if n.Kind == yaml.ScalarNode && !unset(n) {
			s.Values = append(s.Values, strings.TrimRight(n.Value, "\n")) // as the flag takes it
			continue
		}
		if n.Kind != yaml.MappingNode {
			return nil, r.fail(n, "%s has an entry that is %s", s.Path, what(n)).withHint("write - {at: 2m, text: what you do}")
		}
		value, err := r.mark(n, s.Path)
		if err != nil {
			return nil, err
		}
		s.Values = append(s.Values, value)
	}
	if len(s.Values) == 0 {
		return nil, nil
	}
	return []Setting{s}, nil
}

// mark reads one mark.
func (r *reader) mark(n *yaml.Node, path string) (string, error) {
	pairs, err := r.pairs(n, path, maxDepth/2)
	if err != nil {
		return "", err
	}
	keys := []string{"at", "text", "exec"}
	values := map[string]string{}
	for _, p := range pairs {
		if !slices.Contains(keys, p.name) {
			err := r.fail(p.key, "%s has no key %q", path, p.name)
			if near := suggest.Closest(p.name, keys); near != "" {
				return "", err.withHint("did you mean %s?", near)
			}
			return "", err.withHint("it has at, text and exec")
		}
		if p.value.Kind != yaml.ScalarNode {
			return "", r.fail(p.key, "%s.%s is %s", path, p.name, what(p.value))
		}
		if !unset(p.value) {
			values[p.name] = strings.TrimRight(p.value.Value, "\n")
		}
	}
	for _, key := range keys[:2] {
		if values[key] == "" {
			return "", r.fail(n, "%s has a mark without %s", path, key).withHint("write - {at: 2m, text: what you do}")
		}
	}
	text, err := json.Marshal(values)
	return string(text), err
}
