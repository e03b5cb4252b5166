package engines

import (
	"cmp"
	"context"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/ais"
)

// aisProvider is AIStore with its own API. Its S3 interface, below /s3, counts as S3.
func aisProvider() Provider {
	const inS3 = "use the S3 interface, with --provider=s3 and a host such as http://HOST:51080/s3"
	const notS3 = "leave it out, or " + inS3
	return Provider{
		Name: "ais", Title: "AIStore", Scheme: "ais", Host: "http://127.0.0.1:8080",
		HostFromEnv: hostIn("AIS_ENDPOINT"),
		Accepts:     "--access-token or --credentials-file",
		Identify: func(_ context.Context, id Identity, cfg *store.Config) (source string, secrets []string, err error) {
			cfg.Credentials = store.Keys{}
			useCertificates(id.Getenv, cfg)
			return ais.Identify(ais.Identity{Token: id.Token, File: id.File, Other: id.Access != "" || id.Metadata, Getenv: id.Getenv}, cfg)
		},
		Lacks: map[Feature]string{
			Versions: "", ObjectLock: "", Tags: "", Appends: "", ZIPFiles: "", Unpacking: "", FanOuts: "", Forms: "", ListMetadata: "", Profiles: "",
			Copies: inS3, UploadParts: inS3, PartDownloads: inS3, PartCopies: "", CustomerKeys: "", StoreKeys: "", ServiceKeys: "",
			Classes: "", ObjectData: notS3, HostBuckets: notS3, Signatures: notS3, MinioEngine: notS3, HTTP2: "leave it out",
		},
		Checksums: ais.Checksums(),
		open: func(cfg *store.Config) (o opened, err error) {
			o.driver, err = ais.Open(cfg)
			return o, err
		},
	}
}

// useCertificates reads the certificate variables of AIStore's own tools, unless a flag sets them.
func useCertificates(getenv func(string) string, cfg *store.Config) {
	if !cfg.TLS {
		return
	}
	cfg.CAFile = cmp.Or(cfg.CAFile, getenv("AIS_CLIENT_CA"))
	switch strings.ToLower(cmp.Or(getenv("AIS_SKIP_VERIFY_CRT"), getenv("AIS_SKIP_VERIFY"))) {
	case "1", "t", "true", "y", "yes", "on":
		cfg.Insecure = true
	}
	if cfg.ClientCert == "" && cfg.ClientKey == "" {
		cfg.ClientCert, cfg.ClientKey = getenv("AIS_CRT"), getenv("AIS_CRT_KEY")
	}
}
