package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/commands"
	"warp/cli/commands/suite"
	"warp/cli/flagtype"
	"warp/internal/check"
	"warp/pkg/runfile"
)

// TestRunSchema holds the JSON schema for editors against the keys that files take.
func TestRunSchema(t *testing.T) {
	t.Parallel()
	text, err := json.MarshalIndent(runSchema(), "", " ")
	check.OK(t, err)
	check.Golden(t, "../docs/warp-run.schema.json", string(text)+"\n")
}

type schema = map[string]any

// runSchema is the schema of a file for editors, which see templates as YAML: a variable may be in the place of any value.
func runSchema() schema {
	env := mapEnvironment(nil)
	var names, flags []string
	for _, c := range commands.Benchmarks(env) {
		names = append(names, c.Name)
	}
	known := commands.BenchmarkFlags(commands.Benchmarks(env))
	for _, f := range known {
		flags = append(flags, f.Names()[0])
	}
	sweep := commands.Table(env).Find("sweep")
	for _, key := range suite.SweepKeys() {
		flags = append(flags, "sweep."+key)
	}
	keys := map[string]schema{"": {}} // by group
	for _, k := range runfile.Keys(flags) {
		if keys[k.Group] == nil {
			keys[k.Group] = schema{}
		}
		f := command.FindFlag(known, k.Flag)
		if f == nil {
			f = sweep.Lookup(strings.TrimPrefix(k.Flag, "sweep."))
		}
		keys[k.Group][k.Name] = valueSchema(f)
	}
	settings := keys[""]
	for group, inside := range keys {
		if group == "" {
			continue
		}
		object := schema{"type": []string{"object", "null"}, "properties": inside, "additionalProperties": false}
		if alone, ok := settings[group]; ok { // autoterm is a flag as well
			object = schema{"anyOf": []any{alone, object}}
		}
		settings[group] = object
	}
	for _, group := range []string{"remote", "params", "io", "advanced"} {
		settings[group] = schema{"$ref": "#/$defs/group"}
	}
	// A plain group may have all keys that are allowed next to it, except other plain groups.
	inGroup := schema{}
	for name, s := range settings {
		if !slices.Contains([]string{"remote", "params", "io", "advanced"}, name) {
			inGroup[name] = s
		}
	}
	settings["benchmark"] = schema{"enum": names, "description": "what to run"}
	warp := schema{
		"api":        schema{"const": "v1"},
		"benchmarks": schema{"type": "array", "minItems": 1, "items": schema{"$ref": "#/$defs/benchmark"}, "description": "what to run, in order"},
	}
	for name, s := range settings {
		warp[name] = s
	}
	variable := schema{"type": "string", "pattern": `\{\{`}
	value := func(types ...string) schema {
		return schema{"anyOf": []any{schema{"type": append(types, "null")}, variable}}
	}
	return schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "file of warp run", "type": "object",
		"required": []string{"warp"}, "additionalProperties": false, "patternProperties": schema{"^x-": true},
		"properties": schema{"warp": schema{
			"type": "object", "properties": warp, "additionalProperties": false, "required": []string{"api"},
			"oneOf": []any{schema{"required": []string{"benchmark"}}, schema{"required": []string{"benchmarks"}}},
		}},
		"$defs": schema{
			"benchmark": schema{"type": "object", "properties": settings, "additionalProperties": false, "required": []string{"benchmark"}},
			"group":     schema{"type": []string{"object", "null"}, "properties": inGroup, "additionalProperties": false},
			"switch":    value("boolean"), "integer": value("integer"), "number": value("number"), "text": value("string", "number", "boolean"),
			"marks": schema{"type": []string{"array", "null"}, "items": schema{
				"type": "object", "additionalProperties": false, "required": []string{"at", "text"},
				"properties": schema{
					"at":   schema{"$ref": "#/$defs/text", "description": "time since the start of the measured part, such as 2m"},
					"text": schema{"$ref": "#/$defs/text", "description": "what is done to the store"},
					"exec": schema{"$ref": "#/$defs/text", "description": "command for the shell, which does it"},
				},
			}},
			"list": schema{"anyOf": []any{
				schema{"$ref": "#/$defs/text"}, schema{"type": "array", "items": schema{"$ref": "#/$defs/text"}},
			}},
		},
	}
}

// valueSchema is what a flag takes.
func valueSchema(f cli.Flag) schema {
	kind := "text"
	switch _, many := f.(*flagtype.List); {
	case many, slices.Contains(suite.ListFlags(), f.Names()[0]):
		kind = "list"
	default:
		switch f.Get().(type) {
		case bool, flagtype.Asked:
			kind = "switch"
		case int, int64, uint, uint64:
			kind = "integer"
		case float64:
			if _, plain := f.(*cli.FloatFlag); plain { // --pick=zipf:0.99 has words around its number
				kind = "number"
			}
		}
	}
	if kind == "integer" && (suite.Expected(f) != "a whole number") {
		kind = "text"
	}
	if f.Names()[0] == "marks" {
		kind = "marks"
	}
	s := schema{"$ref": "#/$defs/" + kind}
	if d, ok := f.(cli.DocGenerationFlag); ok {
		s["description"] = strings.ReplaceAll(d.GetUsage(), "`", "")
	}
	return s
}
