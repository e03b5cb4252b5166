// Package archtest holds the tests that keep the project's shape: who may import whom, who may print, and
// what may be linked in.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"warp/internal/check"
)

const (
	root   = "../.."
	module = "warp"
	doc    = root + "/docs/architecture.md"
)

// allowed returns the map of docs/architecture.md: the packages of ours that each package may import, by their paths.
var allowed = sync.OnceValue(func() map[string][]string {
	text, err := os.ReadFile(doc)
	if err != nil {
		panic(err)
	}
	cells := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| *([^|]*?) *\\|$").FindAllStringSubmatch(string(text), -1) {
		pkg := strings.TrimSuffix(m[1], "/")
		if pkg == "main.go" {
			pkg = "."
		}
		cells[pkg] = m[2]
	}
	pkgs := slices.Collect(maps.Keys(cells))
	// The map names packages by the ends of their paths. Of two with the same end, it is the one directly below pkg.
	find := func(name string) string {
		if _, ok := cells["pkg/"+name]; ok {
			return "pkg/" + name
		}
		ends := slices.DeleteFunc(slices.Clone(pkgs), func(p string) bool { return p != name && !strings.HasSuffix(p, "/"+name) })
		if len(ends) != 1 {
			panic(fmt.Sprintf("%s: %s names %d packages with a row: %v", doc, name, len(ends), ends))
		}
		return ends[0]
	}
	all := map[string][]string{}
	for pkg, cell := range cells {
		cell, except := strings.CutPrefix(cell, "all below except ")
		var named []string
		for name := range strings.SplitSeq(cell, ",") {
			if name = strings.TrimSpace(name); name != "" && name != "–" {
				named = append(named, find(name))
			}
		}
		if except {
			named = slices.DeleteFunc(slices.Clone(pkgs), func(p string) bool { return p == pkg || p == "." || slices.Contains(named, p) })
		}
		all[pkg] = named
	}
	return all
})

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
			may = slices.Concat(may, slices.DeleteFunc(slices.Clone(allowed()["cli"]), isRoom))
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
	check.OK(t, err)
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

// Every package has a row in one of the tables, which say what it is for.
func TestPackagesAreDescribed(t *testing.T) {
	var text []byte
	for _, name := range []string{doc, filepath.Join(root, "CONTRIBUTING.md")} {
		b, err := os.ReadFile(name)
		check.OK(t, err)
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
