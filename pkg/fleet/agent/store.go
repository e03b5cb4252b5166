package agent

import (
	"errors"

	"warp/pkg/fleet/protocol"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// errFiles refuses a store description with file names: the coordinator must
// send contents, because a name would refer to a file of this machine.
var errFiles = errors.New("the job names a file, and a job may not")

// connect returns a client of the store described by the coordinator.
func connect(s *protocol.Store, o *Options) (*store.Client, error) {
	cfg := s.Config
	if cfg.CAFile != "" || cfg.ClientCert != "" || cfg.ClientKey != "" {
		return nil, errFiles
	}
	if err := engines.CheckPortable(&cfg); err != nil {
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
