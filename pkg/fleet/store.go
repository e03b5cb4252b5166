package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"

	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// DescribeStore makes cfg ready to travel: what is in files is read, and the
// credentials are what they are now.
func DescribeStore(cfg store.Config) (*Store, error) {
	s := &Store{}
	if err := portable(&cfg); err != nil {
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
		text, err := os.ReadFile(*f.name)
		if err != nil {
			return nil, fmt.Errorf("read the %s: %w", f.what, err)
		}
		*f.text, *f.name = text, ""
	}
	cfg.Credentials, cfg.Others = nil, nil
	s.Config = cfg
	return s, nil
}

// portable refuses credentials that name something of one machine.
func portable(cfg *store.Config) error {
	p, err := engines.FindProvider(cfg.Provider)
	if err != nil || p.Portable == nil {
		return err
	}
	return p.Portable(cfg)
}

// errFiles refuses a store whose description names files: their contents
// travel, since a name would be one of this machine.
var errFiles = errors.New("the job names a file, and a job may not")

// connect makes a client of the store, on the machine of an agent.
func (s *Store) connect(o AgentOptions) (*store.Client, error) {
	cfg := s.Config
	if cfg.CAFile != "" || cfg.ClientCert != "" || cfg.ClientKey != "" {
		return nil, errFiles
	}
	if err := portable(&cfg); err != nil {
		return nil, err
	}
	if len(s.Keys) == 0 {
		return nil, errors.New("the job has no credentials, not even empty ones")
	}
	var all []store.Credentials
	for _, keys := range s.Keys {
		all = append(all, keys)
	}
	cfg.Credentials, cfg.Others = all[0], all[1:]
	cfg.AppVersion = o.Warp
	if o.SourceIP.IsValid() && len(cfg.SourceIPs) == 0 {
		cfg.SourceIPs = append(cfg.SourceIPs, o.SourceIP)
	}
	return engines.New(cfg)
}
