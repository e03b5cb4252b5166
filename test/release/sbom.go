package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"

	"github.com/CycloneDX/cyclonedx-go"
)

// billsOfMaterials writes a list of the modules in each binary, as CycloneDX
// JSON. It is read from the binary itself.
func (r *release) billsOfMaterials() error {
	for _, p := range platforms() {
		if err := r.billOfMaterials(p); err != nil {
			return fmt.Errorf("modules of %s: %w", r.binary(p), err)
		}
	}
	return nil
}

func (r *release) billOfMaterials(p platform) error {
	info, err := buildinfo.ReadFile(r.binary(p))
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		Type: cyclonedx.ComponentTypeApplication, BOMRef: "warp", Name: "warp", Version: r.number()}}
	parts := []cyclonedx.Component{{Type: cyclonedx.ComponentTypeLibrary, BOMRef: "pkg:golang/std@" + info.GoVersion[2:],
		Name: "std", Version: info.GoVersion, PackageURL: "pkg:golang/std@" + info.GoVersion[2:]}}
	var needs []string
	for _, m := range info.Deps {
		url := "pkg:golang/" + m.Path + "@" + m.Version
		parts = append(parts, cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, Name: m.Path, Version: m.Version, PackageURL: url})
		needs = append(needs, url)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: "warp", Dependencies: &needs}}
	name := filepath.Join(r.packages(), fmt.Sprintf("warp_%s_%s_%s.cdx.json", r.number(), p.os, p.arch))
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return file.Close()
}
