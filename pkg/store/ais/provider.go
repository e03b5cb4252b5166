package ais

import (
	"cmp"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/provider"
)

// Provider is AIStore with its own API. Its S3 interface, below /s3, counts as S3.
func Provider() provider.Provider {
	const inS3 = "use the S3 interface, with --provider=s3 and a host such as http://HOST:51080/s3"
	const notS3 = "leave it out, or " + inS3
	return provider.Provider{
		Name: "ais", Title: "AIStore", Scheme: "ais", Host: "http://127.0.0.1:8080",
		HostFromEnv: provider.HostIn("AIS_ENDPOINT"),
		Accepts:     "--access-token or --credentials-file",
		Identify:    identify,
		Lacks: map[provider.Feature]string{
			provider.Versions: "", provider.ObjectLock: "", provider.Tags: "", provider.Appends: "", provider.ZIPFiles: "",
			provider.Unpacking: "", provider.FanOuts: "", provider.Forms: "", provider.ListMetadata: "", provider.Profiles: "",
			provider.PartCopies: "", provider.CustomerKeys: "", provider.StoreKeys: "", provider.ServiceKeys: "", provider.Classes: "",
			provider.Copies: inS3, provider.UploadParts: inS3, provider.PartDownloads: inS3,
			provider.ObjectData: notS3, provider.HostBuckets: notS3, provider.Signatures: notS3, provider.MinioEngine: notS3,
			provider.HTTP2: "leave it out",
		},
		Checksums: checksums(),
		Open:      Open,
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
