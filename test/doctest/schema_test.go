package doctest

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"warp/internal/check"
	"warp/pkg/stats"
)

// schemaFiles names the schemas in docs, by the documents that they describe.
func schemaFiles() map[reflect.Type]string {
	return map[reflect.Type]string{
		reportType:      "report.schema.json",
		comparisonType:  "comparison.schema.json",
		verdictsType:    "verdicts.schema.json",
		comparisonsType: "comparisons.schema.json",
		historyType:     "history.schema.json",
		profileType:     "profile.schema.json",
	}
}

// A schema is a JSON Schema, or a part of one.
type schema = map[string]any

// TestSchemas holds the JSON schemas in docs against the Go types of the documents. [sighting.document] checks that
// real documents follow them. The descriptions are from the tables of docs/json-fields.md.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for typ, name := range schemaFiles() {
		check.Golden(t, "../../docs/"+name, documentSchema(t, typ))
	}
}

// documentSchema returns the schema of a document as text.
func documentSchema(t *testing.T, typ reflect.Type) string {
	t.Helper()
	w := schemaWriter{t: t, page: read(t, "docs/json-fields.md"), titles: make(map[reflect.Type]string), defs: schema{}}
	for title, known := range sections() {
		w.titles[known] = title
	}
	whole := schema{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": w.titles[typ], "$defs": w.defs}
	whole["$ref"] = w.of(typ)["$ref"]
	text, err := json.MarshalIndent(whole, "", " ")
	check.OK(t, err)
	return string(text) + "\n"
}

// A schemaWriter describes Go types as encoding/json writes them.
type schemaWriter struct {
	t      *testing.T
	page   document
	titles map[reflect.Type]string // sections of the page
	defs   schema
}

// of returns the schema of a value. Structs are references to definitions. Fields that may be added later are allowed.
func (w *schemaWriter) of(typ reflect.Type) schema {
	switch typ {
	case reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[stats.Histogram](), reflect.TypeFor[stats.Sparse]():
		return schema{"type": "string", "contentEncoding": "base64"}
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return schema{"anyOf": []schema{w.of(typ.Elem()), {"type": "null"}}}
	case reflect.Struct:
		return w.reference(typ)
	case reflect.Slice, reflect.Array:
		return schema{"type": "array", "items": w.of(typ.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": w.of(typ.Elem())}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return schema{"type": "number"}
	default:
		return schema{"type": "integer"}
	}
}

var markup = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// reference returns a reference to the definition of a struct, which it makes if it is the first one.
func (w *schemaWriter) reference(typ reflect.Type) schema {
	title := w.titles[typ]
	if title == "" {
		w.t.Fatalf("no section of docs/json-fields.md is about %v", typ)
	}
	name := strings.ReplaceAll(title, " ", "")
	ref := schema{"$ref": "#/$defs/" + name}
	if w.defs[name] != nil {
		return ref
	}
	properties, required := schema{}, []string{}
	w.defs[name] = schema{"type": "object", "properties": properties}
	said := make(map[string]string)
	for _, row := range w.page.in(w.t, title)[0].rows {
		said[strings.Trim(row[0], "`")] = markup.ReplaceAllString(row[2], "$1")
	}
	for i := range typ.NumField() {
		field, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if field == "" || field == "-" {
			continue
		}
		p := w.of(typ.Field(i).Type)
		if strings.Contains(options, "string") { // a number as text
			p = schema{"type": "string"}
		}
		if said[field] != "" {
			p["description"] = said[field]
		}
		properties[field] = p
		if !strings.Contains(options, "omit") {
			required = append(required, field)
		}
	}
	w.defs[name].(schema)["required"] = required
	return ref
}

// followsSchema checks a real document.
func followsSchema(t *testing.T, value any, typ reflect.Type) {
	t.Helper()
	name, ok := schemaFiles()[typ]
	if !ok {
		return
	}
	s, err := jsonschema.NewCompiler().Compile("../../docs/" + name)
	check.OK(t, err)
	if err := s.Validate(value); err != nil {
		t.Errorf("a real document does not follow docs/%s: %v", name, err)
	}
}
