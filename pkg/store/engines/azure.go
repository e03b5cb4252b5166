package engines

import (
	"context"
	"fmt"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/azure"
)

// azureProvider is Azure Blob Storage.
func azureProvider() Provider {
	p := azureService("azure", "Azure Blob Storage", "az", azure.Serves, azure.Open)
	p.Checksums = []store.Checksum{store.ChecksumCRC64NVME}
	return p
}

// lakeProvider is the dfs endpoint of accounts with directories.
func lakeProvider() Provider {
	p := azureService("adls", "Azure Data Lake Storage Gen2", "abfs", azure.ServesLake, azure.OpenLake)
	p.Alias = "abfss" // abfs over TLS, which is the default anyway
	p.CheckBucket = checkContainer
	p.Lacks[Versions], p.Lacks[Tags], p.Lacks[ListMetadata] = "", "", ""
	p.Lacks[Copies], p.Lacks[UploadParts], p.Lacks[Classes] = "use --provider=azure, which can copy", "", ""
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

// azureService contains what both endpoints of an account have in common.
func azureService(name, title, scheme string, serves func(string) bool, open func(*store.Config) (store.Driver, error)) Provider {
	const notS3 = "leave it out"
	return Provider{
		Name: name, Title: title, Scheme: scheme, Serves: serves, TLS: true, OwnKeys: true, AccountPath: azure.EmulatorPath,
		BucketName: lettersOf("-", title),
		HostFromEnv: func(id *Identity) (host, from string, err error) {
			return azure.HostFromEnv(id.Access, id.Getenv, name == "adls")
		},
		Identify: func(_ context.Context, id Identity, cfg *store.Config) (source string, secrets []string, err error) {
			return azure.Identify(azure.Identity{Account: id.Access, Key: id.Secret, Token: id.Token, Metadata: id.Metadata, Getenv: id.Getenv}, cfg)
		},
		Accepts:  "--access-token, or --access-key and --secret-key",
		Portable: azure.Portable,
		Lacks: map[Feature]string{
			ObjectLock: "", ZIPFiles: "", Unpacking: "", FanOuts: "", Forms: "", Profiles: "", PartCopies: "",
			StoreKeys:   "leave it out: it encrypts everything that is uploaded",
			ServiceKeys: "", CustomerKeys: "", MinioEngine: notS3, HostBuckets: notS3, Signatures: notS3, HTTP2: notS3, Regions: "leave it out: an account is in one region",
			Identities: "use --access-key and --secret-key, or --access-token",
		},
		open: func(cfg *store.Config) (o opened, err error) {
			o.driver, err = open(cfg)
			return o, err
		},
	}
}
