package s3provider

import (
	"cmp"
	"fmt"
	"slices"

	"warp/pkg/store"
	"warp/pkg/store/minio"
	"warp/pkg/store/provider"
	"warp/pkg/store/s3"
)

// Express is S3 Express One Zone. Its directory buckets differ from S3 buckets in
// signatures, hosts and listings. At Amazon, the name of a bucket is enough to recognize one;
// elsewhere the name means nothing.
func Express() provider.Provider {
	const general = "name another --bucket, since that name is one of a directory bucket"
	return provider.Provider{
		Name: s3.Express, Title: "S3 Express One Zone",
		OwnsBucket: func(host, bucket string) bool { return s3.IsAWS(host) && s3.IsDirectory(bucket) }, Locate: zonalHosts,
		Lacks: map[provider.Feature]string{
			provider.Versions: general, provider.ObjectLock: general, provider.Tags: general, provider.Forms: general,
			provider.ZIPFiles: "", provider.Unpacking: "", provider.FanOuts: "", provider.ListMetadata: "", provider.Profiles: "",
			provider.CustomerKeys: "leave it out: everything is encrypted as the bucket says",
			provider.ServiceKeys:  "leave it out: everything is encrypted as the bucket says",
			provider.Classes:      "leave it out: there is only one class",
		},
		Checksums: []store.Checksum{
			store.ChecksumCRC32, store.ChecksumCRC32FO, store.ChecksumCRC32C, store.ChecksumCRC32CFO, store.ChecksumCRC64NVME,
			store.ChecksumSHA1, store.ChecksumSHA256,
		},
		Open: openExpress,
	}
}

// zonalHosts returns the hosts of the zone in the names of the buckets, if the given hosts are
// Amazon's.
func zonalHosts(hosts, buckets []string, region string) (at []string, in string, err error) {
	first, err := s3.Zone(buckets[0])
	if err != nil {
		return nil, "", err
	}
	for _, bucket := range buckets {
		zone, err := s3.Zone(bucket)
		if err != nil {
			return nil, "", err
		}
		if zone != first {
			return nil, "", fmt.Errorf("the buckets %s and %s are in two zones, and a run uses one", buckets[0], bucket)
		}
	}
	for _, host := range hosts {
		zonal, of, err := s3.ZonalHost(host, first, region)
		if err != nil {
			return nil, "", err
		}
		if region = of; !slices.Contains(at, zonal) {
			at = append(at, zonal)
		}
	}
	return at, region, nil
}

// defaultRegion is used in signatures if no region is set and the host is not Amazon's.
const defaultRegion = "us-east-1"

// openExpress returns the driver of the engine in cfg, with the sessions of each user that all requests share.
func openExpress(cfg *store.Config) (driver store.Driver, err error) {
	cfg.Region = cmp.Or(cfg.Region, defaultRegion)
	cfg.UnsignedPayload = cfg.UnsignedPayload || cfg.TLS // which also protects the payload
	name, err := choose(cfg)
	if err != nil {
		return driver, err
	}
	users := make(map[store.Credentials]*s3.Sessions)
	sessions := func(user store.Credentials) *s3.Sessions {
		if users[user] == nil {
			users[user] = s3.NewSessions()
		}
		return users[user]
	}
	driver = store.Driver{Name: name, Contract: s3.ExpressContract(),
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			second, err := minio.NewExpress(cfg, a, sessions(cfg.Credentials), n)
			if err != nil || name != Lean {
				return second, err
			}
			first, err := s3.NewExpress(cfg, a, sessions(cfg.Credentials), n)
			if err != nil {
				return nil, err
			}
			return &withFallback{second, first}, nil
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) {
			admin, err := minio.NewExpressAdmin(cfg, a, sessions(cfg.Credentials))
			if err != nil {
				return nil, err
			}
			return &renewing{admin, sessions(cfg.Credentials)}, nil
		},
	}
	return driver, nil
}

// A renewing admin stops the renewal of sessions when it is closed.
type renewing struct {
	*minio.ExpressAdmin
	sessions *s3.Sessions
}

// Close closes the connections, as [minio.ExpressAdmin.Close] does.
func (r *renewing) Close() {
	r.sessions.Close()
	r.ExpressAdmin.Close()
}
