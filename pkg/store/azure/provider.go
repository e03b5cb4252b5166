package azure

import (
	"fmt"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/provider"
)

// Provider is Azure Blob Storage.
func Provider() provider.Provider {
	p := describe("azure", "Azure Blob Storage", "az", Serves, Open)
	p.Checksums = []store.Checksum{store.ChecksumCRC64NVME}
	return p
}

// LakeProvider is the dfs endpoint of accounts with directories.
func LakeProvider() provider.Provider {
	p := describe("adls", "Azure Data Lake Storage Gen2", "abfs", ServesLake, OpenLake)
	p.Alias = "abfss" // abfs over TLS, which is the default anyway
	p.CheckBucket = checkContainer
	p.Lacks[provider.Versions], p.Lacks[provider.Tags], p.Lacks[provider.ListMetadata] = "", "", ""
	p.Lacks[provider.Copies], p.Lacks[provider.UploadParts], p.Lacks[provider.Classes] = "use --provider=azure, which can copy", "", ""
	p.Checksums = []store.Checksum{store.ChecksumCRC64NVME}
	return p
}

// checkContainer rejects the form abfs://CONTAINER@HOST.
func checkContainer(scheme, name string) error {
	container, host, ok := strings.Cut(name, "@")
	if !ok {
		return nil
	}
	return fmt.Errorf("the container has its host in it: write --bucket=%s://%s --host=%s", scheme, container, host)
}

// describe returns what both endpoints of an account have in common.
func describe(name, title, scheme string, serves func(string) bool, open func(*store.Config) (store.Driver, error)) provider.Provider {
	const notS3 = "leave it out"
	return provider.Provider{
		Name: name, Title: title, Scheme: scheme, Serves: serves, TLS: true, OwnKeys: true, AccountPath: emulatorPath,
		BucketName: provider.LettersOf("-", title),
		HostFromEnv: func(id *provider.Identity) (host, from string, err error) {
			return hostFromEnv(id, name == "adls")
		},
		Identify: identify,
		Accepts:  "--access-token, or --access-key and --secret-key",
		Portable: Portable,
		Lacks: map[provider.Feature]string{
			provider.ObjectLock: "", provider.ZIPFiles: "", provider.Unpacking: "", provider.FanOuts: "", provider.Forms: "",
			provider.Profiles: "", provider.PartCopies: "", provider.ServiceKeys: "", provider.CustomerKeys: "",
			provider.StoreKeys:   "leave it out: it encrypts everything that is uploaded",
			provider.MinioEngine: notS3, provider.HostBuckets: notS3, provider.Signatures: notS3, provider.HTTP2: notS3,
			provider.Regions:    "leave it out: an account is in one region",
			provider.Identities: "use --access-key and --secret-key, or --access-token",
		},
		Open: open,
	}
}
