package gcs

import (
	"warp/pkg/store"
	"warp/pkg/store/provider"
)

// Provider is Google Cloud Storage. With a pair of HMAC keys it is S3 without some functions.
func Provider() provider.Provider {
	const notS3 = "leave it out, or use the S3 interface with --provider=s3 and a pair of HMAC keys"
	return provider.Provider{
		Name: "gcs", Title: "Google Cloud Storage", Scheme: "gs", Host: "https://storage.googleapis.com",
		BucketName: provider.LettersOf("-_.", "Google Cloud Storage"),
		Serves:     Serves, TLS: true,
		HostFromEnv: provider.HostIn("STORAGE_EMULATOR_HOST"),
		Identify:    identify,
		Accepts:     "--access-token, --credentials-file, or a pair of keys",
		Portable:    Portable,
		Lacks: map[provider.Feature]string{
			provider.ObjectLock: "", provider.Tags: "", provider.Appends: "", provider.ZIPFiles: "", provider.Unpacking: "",
			provider.FanOuts: "", provider.Forms: "", provider.ListMetadata: "", provider.Profiles: "",
			provider.StoreKeys:    "leave it out: it encrypts everything that is uploaded",
			provider.CustomerKeys: "", provider.PartCopies: "", provider.MinioEngine: notS3,
			provider.HostBuckets: notS3, provider.Signatures: notS3, provider.HTTP2: "leave it out",
		},
		Checksums: []store.Checksum{store.ChecksumCRC32C},
		Open:      openEither,
	}
}

// openEither opens the JSON API or, with HMAC keys, the S3 interface.
func openEither(cfg *store.Config) (store.Driver, error) {
	if signsByKeys(cfg) {
		return openInteroperable(cfg)
	}
	return Open(cfg)
}
