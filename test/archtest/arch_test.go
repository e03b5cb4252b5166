// Package archtest holds the tests that keep the project's shape: who may import whom, who may print, and
// what may be linked in.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "warp"
	doc    = root + "/docs/architecture.md"
)

// allowed is the map of docs/architecture.md: what of ours a package may import. TestMapIsDocumented keeps
// the two the same.
func allowed() map[string][]string {
	return map[string][]string{
		".": {"cli"},
		"cli": {
			"cli/command", "cli/commands", "cli/exit", "cli/process", "cli/terminal",
			"internal/columns", "internal/human", "internal/pause", "internal/runsocket", "internal/suggest", "internal/wholefile", "pkg/aggregate", "pkg/anonymous", "pkg/assert",
			"pkg/bench", "pkg/bench/ops", "pkg/bench/pacing", "pkg/bench/recording", "pkg/bench/verify", "pkg/calibrate", "pkg/compare", "pkg/consistency", "pkg/consistency/workload", "pkg/counter", "pkg/export", "pkg/find", "pkg/fleet", "pkg/fleet/agent",
			"pkg/fleet/protocol", "pkg/fleet/transport", "pkg/generator", "pkg/lease", "pkg/miniowarp", "pkg/monitor",
			"pkg/oplog", "pkg/oplog/lines", "pkg/oplog/merge", "pkg/report", "pkg/report/figures", "pkg/report/page", "pkg/report/web", "pkg/results", "pkg/runfile", "pkg/s3mem",
			"pkg/script", "pkg/sink", "pkg/stats", "pkg/sweep", "pkg/store", "pkg/store/ais", "pkg/store/credentials", "pkg/store/dial",
			"pkg/store/engines", "pkg/store/nethttp", "pkg/store/provider",
		},
		// The rooms of the command line: which other rooms each may import. Of pkg and internal, each may import what cli may.
		"cli/commands":   {"cli/aisloader", "cli/benchmarks", "cli/command", "cli/completion", "cli/exit", "cli/files", "cli/flagtype", "cli/process", "cli/reports", "cli/session", "cli/target", "cli/terminal"},
		"cli/aisloader":  {"cli/benchmarks", "cli/command", "cli/exit", "cli/files", "cli/flagtype", "cli/session", "cli/target", "cli/terminal"},
		"cli/benchmarks": {"cli/command", "cli/exit", "cli/files", "cli/flagtype", "cli/reports", "cli/session", "cli/target", "cli/terminal"},
		"cli/session":    {"cli/command", "cli/exit", "cli/files", "cli/flagtype", "cli/process", "cli/reports", "cli/target", "cli/terminal"},
		"cli/reports":    {"cli/command", "cli/exit", "cli/files", "cli/flagtype", "cli/terminal"},
		"cli/target":     {"cli/command", "cli/exit", "cli/flagtype", "cli/terminal"},
		"cli/files":      {"cli/exit"},
		"cli/command":    {"cli/exit", "cli/flagtype", "cli/process", "cli/terminal"},
		"cli/completion": {},
		"cli/terminal":   {},
		"cli/exit":       {},
		"cli/flagtype":   {},
		"cli/process":    {},

		"pkg/fleet":            {"internal/wholefile", "internal/pause", "pkg/bench", "pkg/bench/recording", "pkg/aggregate", "pkg/store", "pkg/store/engines", "pkg/oplog", "pkg/oplog/merge", "pkg/sink", "pkg/fleet/clock", "pkg/fleet/logcopy", "pkg/fleet/protocol", "pkg/fleet/transport", "pkg/results", "pkg/monitor"},
		"pkg/bench":            {"internal/pause", "pkg/lease", "pkg/store", "pkg/generator", "pkg/hostload", "pkg/oplog", "internal/human", "pkg/bench/pacing", "pkg/bench/recording", "pkg/bench/verify"},
		"pkg/bench/ops":        {"internal/human", "pkg/bench", "pkg/bench/archive", "pkg/bench/verify", "pkg/generator", "pkg/lease", "pkg/store"},
		"pkg/bench/pacing":     {"internal/human", "internal/pause", "pkg/generator", "pkg/hostload"},
		"pkg/bench/recording":  {"pkg/oplog"},
		"pkg/bench/archive":    {"pkg/generator"},
		"pkg/bench/verify":     {"pkg/generator", "pkg/store"},
		"pkg/lease":            {"internal/pause", "pkg/store", "pkg/generator"},
		"pkg/hostload":         {},
		"pkg/calibrate":        {"pkg/aggregate", "pkg/bench", "pkg/bench/ops", "pkg/bench/recording", "pkg/generator", "pkg/hostload", "pkg/store", "pkg/store/engines", "pkg/results"},
		"pkg/stats":            {"internal/exact", "internal/wire"},
		"pkg/compare":          {"pkg/stats", "pkg/hostload", "internal/exact", "internal/suggest", "pkg/results"},
		"pkg/find":             {"internal/human", "pkg/assert", "pkg/results"},
		"pkg/sweep":            {"pkg/compare", "pkg/stats", "pkg/results"},
		"pkg/assert":           {"pkg/stats", "internal/suggest", "pkg/results"},
		"pkg/anonymous":        {"pkg/compare", "pkg/results"},
		"pkg/export":           {"pkg/oplog", "pkg/stats", "pkg/results"},
		"pkg/report/figures":   {"internal/columns", "internal/human", "pkg/results"},
		"pkg/report":           {"pkg/find", "pkg/report/figures", "pkg/compare", "pkg/sweep", "pkg/oplog", "internal/columns", "internal/human", "internal/exact", "pkg/results"},
		"pkg/report/web":       {"pkg/report/page", "internal/connlimit", "internal/exact", "pkg/results", "pkg/monitor"},
		"pkg/report/svg":       {"internal/human"},
		"pkg/report/page":      {"pkg/find", "internal/columns", "pkg/report", "pkg/report/figures", "pkg/report/svg", "pkg/compare", "pkg/sweep", "internal/human", "internal/exact", "pkg/results", "pkg/monitor"},
		"pkg/aggregate":        {"pkg/stats", "pkg/oplog", "internal/human", "internal/exact", "pkg/results", "pkg/aggregate/marks"},
		"pkg/miniowarp":        {"internal/exact", "pkg/results"},
		"pkg/counter":          {"internal/exact", "internal/wire", "pkg/oplog"},
		"pkg/monitor":          {"internal/exact", "internal/human", "internal/wire", "pkg/counter", "pkg/oplog", "pkg/results", "pkg/stats"},
		"pkg/aggregate/marks":  {"internal/exact", "pkg/oplog", "pkg/results", "pkg/stats"},
		"pkg/results":          {"internal/exact", "internal/human", "pkg/hostload", "pkg/oplog", "pkg/stats"},
		"pkg/store":            {"internal/wholefile", "pkg/store/hostselect", "internal/pause", "internal/human"},
		"pkg/store/hostselect": {},
		"pkg/s3mem":            {},
		"pkg/generator":        {},
		"pkg/consistency":      {"pkg/oplog", "pkg/results"},

		"pkg/consistency/workload": {"internal/pause", "pkg/bench", "pkg/consistency", "pkg/generator", "pkg/oplog", "pkg/store"},
		"pkg/oplog/merge":          {"pkg/oplog", "pkg/hostload", "internal/human", "internal/wire"},
		"pkg/oplog":                {"pkg/oplog/field", "pkg/oplog/lines", "pkg/hostload", "internal/human", "internal/wire"},
		"pkg/oplog/field":          {},
		"pkg/oplog/lines":          {},
		"pkg/script":               {"internal/suggest"},
		"pkg/runfile":              {"internal/suggest"},
		"pkg/sink":                 {"pkg/counter", "pkg/oplog", "internal/human", "internal/wire", "internal/connlimit", "internal/redirects"},

		"pkg/fleet/agent":     {"internal/pause", "pkg/bench", "pkg/bench/recording", "pkg/aggregate", "pkg/store", "pkg/store/engines", "pkg/oplog", "pkg/sink", "pkg/fleet/clock", "pkg/fleet/logcopy", "pkg/fleet/protocol", "pkg/fleet/transport", "pkg/monitor"},
		"pkg/fleet/protocol":  {"pkg/bench", "pkg/aggregate", "pkg/store", "pkg/oplog", "pkg/sink", "pkg/fleet/clock", "pkg/fleet/transport"},
		"pkg/fleet/logcopy":   {},
		"pkg/fleet/clock":     {},
		"pkg/fleet/transport": {"internal/connlimit"},

		"pkg/store/engines":     {"pkg/store", "pkg/store/ais", "pkg/store/azure", "pkg/store/gcs", "pkg/store/provider", "pkg/store/s3", "pkg/store/s3provider"},
		"pkg/store/ais":         {"internal/wholefile", "pkg/store", "pkg/store/httpclient", "pkg/store/provider", "pkg/store/tokens"},
		"pkg/store/azure":       {"internal/wholefile", "pkg/store", "pkg/store/httpclient", "pkg/store/provider", "pkg/store/tokens", "pkg/store/s3/xmlscan"},
		"pkg/store/gcs":         {"internal/wholefile", "pkg/store", "pkg/store/httpclient", "pkg/store/minio", "pkg/store/provider", "pkg/store/s3provider", "pkg/store/tokens"},
		"pkg/store/s3provider":  {"pkg/store", "pkg/store/minio", "pkg/store/provider", "pkg/store/s3"},
		"pkg/store/provider":    {"pkg/store"},
		"pkg/store/minio":       {"pkg/store", "pkg/store/nethttp", "pkg/store/s3", "pkg/store/s3/xmlscan"},
		"pkg/store/s3":          {"pkg/store", "pkg/store/httpclient", "pkg/store/s3/xmlscan"},
		"pkg/store/s3/xmlscan":  {"pkg/store"},
		"pkg/store/tokens":      {"internal/redirects", "pkg/store", "pkg/store/httpclient"},
		"pkg/store/httpclient":  {"pkg/store", "pkg/store/dial", "pkg/store/nethttp"},
		"pkg/store/nethttp":     {"pkg/store", "pkg/store/dial"},
		"pkg/store/dial":        {"internal/wholefile", "pkg/store"},
		"pkg/store/credentials": {"internal/redirects", "internal/wholefile", "pkg/store", "pkg/store/s3"},
	}
}

// A file is a parsed Go file of the project.
type file struct {
	name, pkg string // relative to the root
	test      bool
	ast       *ast.File
	fset      *token.FileSet
}

func files(t *testing.T) []file {
	t.Helper()
	var all []file
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "dist" || len(d.Name()) > 2 && d.Name()[0] == '.') {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(p) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		all = append(all, file{rel, path.Dir(rel), strings.HasSuffix(p, "_test.go"), f, fset})
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("read %d Go files: %v", len(all), err)
	}
	return all
}

func (f file) at(p token.Pos) string {
	pos := f.fset.Position(p)
	return f.name + ":" + strings.TrimPrefix(pos.String(), pos.Filename+":")
}

// internal reports whether a package only helps other packages, or serves tests and releases.
func internal(pkg string) bool {
	return strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "test/")
}

// owner is the package of the map that a package belongs to: itself, or the one above it.
func owner(pkg string) string {
	for p := pkg; p != "."; p = path.Dir(p) {
		if _, ok := allowed()[p]; ok {
			return p
		}
	}
	return pkg
}

// isRoom reports whether a package of the map is a part of the command line.
func isRoom(pkg string) bool { return strings.HasPrefix(pkg, "cli/") }

// No package of the map may import itself through others, so "downward" means something for folders of packages too.
func TestMapHasNoCycles(t *testing.T) {
	state := map[string]int{} // 1 is on the way, 2 is done
	var visit func(way []string, pkg string)
	visit = func(way []string, pkg string) {
		way = append(way, pkg)
		switch state[pkg] {
		case 1:
			t.Errorf("a cycle: %s", strings.Join(way, " -> "))
			return
		case 2:
			return
		}
		state[pkg] = 1
		for _, p := range allowed()[pkg] {
			visit(way, p)
		}
		state[pkg] = 2
	}
	for pkg := range allowed() {
		visit(nil, pkg)
	}
}

func TestImportsRunDownward(t *testing.T) {
	for _, f := range files(t) {
		if internal(f.pkg) || f.test {
			continue // tests may use whatever helps them; the compiler keeps cycles out
		}
		may, known := allowed()[owner(f.pkg)]
		if isRoom(owner(f.pkg)) {
			may = append(may, slices.DeleteFunc(allowed()["cli"], isRoom)...)
		}
		if !known {
			t.Errorf("%s: package %s is not in the map of docs/architecture.md", f.name, f.pkg)
			continue
		}
		for _, imp := range f.ast.Imports {
			p, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module+"/")
			if ours && owner(p) != owner(f.pkg) && !slices.Contains(may, owner(p)) {
				t.Errorf("%s: %s may not import %s", f.at(imp.Pos()), f.pkg, p)
			}
		}
	}
}

// Who speaks S3 through minio-go is an engine of S3, or finds its credentials. Everybody else has what every store has.
func TestOnlyEnginesSpeakS3(t *testing.T) {
	speak := []string{"pkg/store/minio", "pkg/store/s3", "pkg/store/credentials"}
	for _, f := range files(t) {
		if internal(f.pkg) || f.test || slices.Contains(speak, owner(f.pkg)) {
			continue
		}
		for _, imp := range f.ast.Imports {
			if strings.HasPrefix(imp.Path.Value, `"github.com/minio/minio-go/`) {
				t.Errorf("%s: %s may not import minio-go", f.at(imp.Pos()), f.pkg)
			}
		}
	}
}

// The places that the documentation sends readers to exist: each file, and the functions named after it.
func TestPlacesAreThere(t *testing.T) {
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Where to look\n")
	table, _, _ = strings.Cut(table, "\n## ")
	places, source := 0, ""
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1) {
		places++
		switch {
		case strings.HasSuffix(m[1], ".go"):
			code, err := os.ReadFile(filepath.Join(root, m[1]))
			if err != nil {
				t.Error(err)
			}
			source = string(code)
		case strings.Contains(m[1], "/"):
			if info, err := os.Stat(filepath.Join(root, m[1])); err != nil || !info.IsDir() {
				t.Errorf("%s is no package: %v", m[1], err)
			}
		case !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[1] + `\(`).MatchString(source):
			t.Errorf("the file named before it has no function %s", m[1])
		}
	}
	if places < 10 {
		t.Errorf("only %d places were found", places)
	}
}

// The table in the documentation says what the one above says.
func TestMapIsDocumented(t *testing.T) {
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| *([^|]*?) *\\|$")
	seen := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		pkg := strings.TrimSuffix(m[1], "/")
		if pkg == "main.go" {
			pkg = "."
		}
		if internal(pkg) {
			continue
		}
		seen[pkg] = true
		if err := sameImports(allowed()[pkg], m[2]); err != nil {
			t.Errorf("%s: %v", pkg, err)
		}
	}
	for pkg := range allowed() {
		if !seen[pkg] {
			t.Errorf("%s is not in the table of docs/architecture.md", pkg)
		}
	}
}

// Every package has a row in one of the tables, which say what it is for.
func TestPackagesAreDescribed(t *testing.T) {
	var text []byte
	for _, name := range []string{doc, filepath.Join(root, "CONTRIBUTING.md")} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, b...)
	}
	seen := map[string]bool{".": true}
	for _, f := range files(t) {
		if !seen[f.pkg] && !bytes.Contains(text, []byte("\n| `"+f.pkg+"/` |")) {
			t.Errorf("neither docs/architecture.md nor CONTRIBUTING.md has a row for %s", f.pkg)
		}
		seen[f.pkg] = true
	}
}

// sameImports compares a cell of the documentation with what is allowed.
func sameImports(may []string, cell string) error {
	if cell == "all below" {
		return nil // cli, whose list TestImportsRunDownward needs in full
	}
	var documented []string
	for name := range strings.SplitSeq(cell, ",") {
		if name = strings.TrimSpace(name); name != "" && name != "–" {
			documented = append(documented, name)
		}
	}
	var short []string
	for _, p := range may {
		short = append(short, path.Base(p))
	}
	slices.Sort(documented)
	slices.Sort(short)
	if !slices.Equal(documented, short) {
		return errors.New("documented imports " + strings.Join(documented, ", ") + "; allowed here " + strings.Join(short, ", "))
	}
	return nil
}

// Only cli prints, so that everything else can be called from anywhere.
func TestOnlyCLIPrints(t *testing.T) {
	banned := map[string][]string{
		"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"os":  {"Stdout", "Stderr", "Stdin", "Exit"},
		"log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"},
	}
	for _, f := range files(t) {
		if f.test || internal(f.pkg) || f.pkg == "." || owner(f.pkg) == "cli" || isRoom(f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil && slices.Contains(banned[x.Name], n.Sel.Name) {
					t.Errorf("%s: %s.%s outside of cli", f.at(n.Pos()), x.Name, n.Sel.Name)
				}
			case *ast.CallExpr:
				if x, ok := n.Fun.(*ast.Ident); ok && x.Obj == nil && (x.Name == "print" || x.Name == "println") {
					t.Errorf("%s: %s outside of cli", f.at(n.Pos()), x.Name)
				}
			}
			return true
		})
	}
}

func TestNoInitNoUtils(t *testing.T) {
	for _, f := range files(t) {
		if name := f.ast.Name.Name; slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "misc"}, name) {
			t.Errorf("%s: a package called %s has no purpose", f.name, name)
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: an init function", f.at(fn.Pos()))
			}
		}
	}
}

func TestMainIsOneStatement(t *testing.T) {
	for _, f := range files(t) {
		if f.name != "main.go" {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name != "main" || len(d.Body.List) != 1 {
					t.Errorf("%s: main.go holds main with one statement, not %s with %d", f.at(d.Pos()), d.Name.Name, len(d.Body.List))
				}
			case *ast.GenDecl:
				if d.Tok != token.IMPORT {
					t.Errorf("%s: main.go declares something", f.at(d.Pos()))
				}
			}
		}
		return
	}
	t.Error("there is no main.go")
}

// What is linked in is under a permissive licence, by the text of the licence that comes with it.
func TestLicences(t *testing.T) {
	for _, m := range linkedModules(t) {
		text, err := licence(m.Dir)
		if err != nil {
			t.Errorf("%s: %v", m.Path, err)
			continue
		}
		if kind := kindOf(text); kind == "" {
			t.Errorf("%s: a licence that is not known to be permissive", m.Path)
		} else if mark := copyleft(text); mark != "" {
			t.Errorf("%s: its licence says %q", m.Path, mark)
		}
	}
	own, err := licence(root)
	if err != nil || kindOf(own) != "Apache-2.0" {
		t.Errorf("the project's own licence: %s, %v", kindOf(own), err)
	}
}

type linked struct{ Path, Dir string }

// linkedModules lists the modules of the binary on every platform that it is built for.
func linkedModules(t *testing.T) []linked {
	t.Helper()
	byPath := map[string]linked{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-json=Module", ".")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, &stderr)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *linked }
			if err := dec.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if p.Module != nil && p.Module.Path != module {
				byPath[p.Module.Path] = *p.Module
			}
		}
	}
	if len(byPath) == 0 {
		t.Fatal("no modules found")
	}
	var all []linked
	for _, m := range byPath {
		all = append(all, m)
	}
	return all
}

func licence(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	name := regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-].*)?$`)
	var all []string
	for _, e := range entries {
		if !e.IsDir() && name.MatchString(e.Name()) {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", err
			}
			all = append(all, string(text))
		}
	}
	if len(all) == 0 {
		return "", errors.New("no licence file")
	}
	return strings.Join(strings.Fields(strings.Join(all, "\n")), " "), nil
}

// kindOf recognises the permissive licences by a sentence that each of them needs; "" for any other.
func kindOf(text string) string {
	for _, k := range []struct{ kind, sentence string }{
		{"Apache-2.0", "Apache License Version 2.0, January 2004"},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
		{"BSD", "Redistribution and use in source and binary forms, with or without modification, are permitted"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
		{"CC0", "CC0 1.0 Universal"},
		{"Unlicense", "This is free and unencumbered software released into the public domain"},
	} {
		if strings.Contains(text, k.sentence) {
			return k.kind
		}
	}
	return ""
}

// copyleft returns the sign of a licence that asks for source in return; "" if there is none.
func copyleft(text string) string {
	for _, mark := range []string{"GNU GENERAL PUBLIC", "GNU General Public License", "GNU AFFERO", "GNU Affero",
		"GNU LESSER", "GNU Lesser", "Mozilla Public License", "Eclipse Public License", "Business Source License",
		"Server Side Public License", "Commons Clause"} {
		if strings.Contains(text, mark) {
			return mark
		}
	}
	return ""
}

func TestCopyleftIsSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"GNU AFFERO GENERAL PUBLIC LICENSE Version 3":   true,
		"Mozilla Public License Version 2.0":            true,
		"Apache License Version 2.0, January 2004":      false,
		"MIT License Permission is hereby granted, ...": false,
	} {
		if got := copyleft(text) != ""; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
