package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	digest "github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// authorities is where the image has the certificates that Go verifies stores
// with. They come from this machine.
const authorities = "/etc/ssl/certs/ca-certificates.crt"

// imageUser owns the folder in which the image works.
const imageUser = 65532

// image writes an OCI layout with an image for each Linux, like the Dockerfile,
// for which no daemon is needed: skopeo copy oci:dist/packages/image docker://…
func (r *release) image() error {
	layout := filepath.Join(r.packages(), "image")
	if err := os.MkdirAll(filepath.Join(layout, "blobs", "sha256"), 0o755); err != nil {
		return err
	}
	index := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
	for _, p := range platforms() {
		if p.os != "linux" {
			continue
		}
		d, err := r.imageFor(layout, p)
		if err != nil {
			return err
		}
		index.Manifests = append(index.Manifests, d)
	}
	all, err := blob(layout, v1.MediaTypeImageIndex, index)
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{v1.AnnotationRefName: r.number()}
	if err := writeJSON(filepath.Join(layout, "index.json"), v1.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, Manifests: []v1.Descriptor{all}}); err != nil {
		return err
	}
	return writeJSON(filepath.Join(layout, v1.ImageLayoutFile), v1.ImageLayout{Version: v1.ImageLayoutVersion})
}

// imageFor writes the image of one platform and describes it.
func (r *release) imageFor(layout string, p platform) (v1.Descriptor, error) {
	layer, err := r.layer(r.binary(p))
	if err != nil {
		return v1.Descriptor{}, err
	}
	packed := compressed(layer)
	files, err := writeBlob(layout, v1.MediaTypeImageLayerGzip, packed)
	if err != nil {
		return v1.Descriptor{}, err
	}
	config, err := blob(layout, v1.MediaTypeImageConfig, v1.Image{
		Created:  &r.date,
		Platform: v1.Platform{OS: p.os, Architecture: p.arch},
		Config: v1.ImageConfig{User: fmt.Sprintf("%d:%d", imageUser, imageUser), WorkingDir: "/data", Entrypoint: []string{"/warp"},
			ExposedPorts: map[string]struct{}{"7761/tcp": {}}},
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(layer)}},
		History: []v1.History{{Created: &r.date, CreatedBy: "warp " + r.version}},
	})
	if err != nil {
		return v1.Descriptor{}, err
	}
	d, err := blob(layout, v1.MediaTypeImageManifest, v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Config: config, Layers: []v1.Descriptor{files}})
	d.Platform = &v1.Platform{OS: p.os, Architecture: p.arch}
	return d, err
}

// layer is the file system of the image as a TAR.
func (r *release) layer(binary string) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	header := func(name string, kind byte, mode int64, size, owner int) error {
		return w.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Mode: mode, Size: int64(size), Uid: owner, Gid: owner, ModTime: r.date, Format: tar.FormatPAX})
	}
	for _, dir := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/", "tmp/"} {
		mode := int64(0o755)
		if dir == "tmp/" {
			mode = 0o1777
		}
		if err := header(dir, tar.TypeDir, mode, 0, 0); err != nil {
			return nil, err
		}
	}
	if err := header("data/", tar.TypeDir, 0o755, 0, imageUser); err != nil {
		return nil, err
	}
	for _, f := range []entry{{authorities[1:], authorities, 0o644}, {"warp", binary, 0o755}} {
		text, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		if err := header(f.name, tar.TypeReg, int64(f.mode), len(text), 0); err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// blob writes a document of the layout.
func blob(layout, mediaType string, document any) (v1.Descriptor, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return writeBlob(layout, mediaType, text)
}

func writeBlob(layout, mediaType string, text []byte) (v1.Descriptor, error) {
	sum := sha256.Sum256(text)
	d := v1.Descriptor{MediaType: mediaType, Digest: digest.NewDigestFromBytes(digest.SHA256, sum[:]), Size: int64(len(text))}
	return d, os.WriteFile(filepath.Join(layout, "blobs", "sha256", d.Digest.Encoded()), text, 0o644)
}

func writeJSON(path string, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
