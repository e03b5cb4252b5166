package fleet

import (
	"context"
	"fmt"

	"warp/internal/wholefile"
	"warp/pkg/fleet/protocol"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// DescribeStore makes cfg self-contained: it reads the named files and resolves
// the credentials.
func DescribeStore(cfg store.Config) (*protocol.Store, error) {
	s := &protocol.Store{}
	if err := engines.CheckPortable(&cfg); err != nil {
		return nil, err
	}
	for _, c := range append([]store.Credentials{cfg.Credentials}, cfg.Others...) {
		keys, err := store.Keys{}, error(nil)
		if c != nil {
			keys, err = c.Keys(context.Background())
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("credentials: %w", err)
		case !keys.Expires.IsZero():
			return nil, fmt.Errorf("these credentials expire at %s, and clients cannot get new ones: use keys that last", keys.Expires.Format("15:04:05"))
		}
		s.Keys = append(s.Keys, keys)
	}
	for _, f := range []struct {
		name *string
		text *[]byte
		what string
	}{
		{&cfg.CAFile, &cfg.CAPEM, "CA file"},
		{&cfg.ClientCert, &cfg.CertPEM, "client certificate"},
		{&cfg.ClientKey, &cfg.KeyPEM, "key of the client certificate"},
	} {
		if *f.name == "" {
			continue
		}
		text, err := wholefile.Read(*f.name, wholefile.Small)
		if err != nil {
			return nil, fmt.Errorf("read the %s: %w", f.what, err)
		}
		*f.text, *f.name = text, ""
	}
	cfg.Credentials, cfg.Others = nil, nil
	s.Config = cfg
	return s, nil
}
