package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"warp/pkg/s3"
)

// serverProfiles are MinIO's profiles of itself during a run.
type serverProfiles struct {
	kinds  []string // none = not wanted
	path   string   // of the ZIP, beside the op log
	client *s3.Client
}

func parseServerProfiles(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	kinds := strings.Split(text, ",")
	if err := s3.CheckServerProfiles(kinds); err != nil {
		return nil, usageError("--serverprof: %w", err)
	}
	return kinds, nil
}

// startServerProfiles finds out before the load whether the store does that.
// They begin anew when the run is measured: what it costs to prepare objects
// is not asked for.
func (s *session) startServerProfiles(ctx context.Context, log string) error {
	kinds, err := parseServerProfiles(s.flags.serverprof)
	if err != nil || len(kinds) == 0 {
		return err
	}
	if log == "" {
		log = logPath("", s.opts.Benchmark, s.opts.ClientID) // the one that --stress leaves out
	}
	s.server = serverProfiles{kinds: kinds, path: strings.TrimSuffix(log, ".csv.zst") + ".profiles.zip", client: s.runner.Client}
	if err := s.server.begin(ctx); err != nil {
		return runError("--serverprof: %w", err).tell("leave it out, or use keys of an administrator of a MinIO")
	}
	return nil
}

func (p *serverProfiles) begin(ctx context.Context) error {
	if len(p.kinds) == 0 {
		return nil
	}
	return p.client.StartServerProfiles(ctx, p.kinds)
}

// saveServerProfiles ends them. What goes wrong there is no reason to lose the run.
func (s *session) saveServerProfiles() {
	if path, err := s.server.save(); err != nil {
		s.warnf("--serverprof: %v", err)
	} else if path != "" {
		s.notef("server profiles written to %q", path)
	}
}

// save writes the ZIP, and tells what it is called. The run is over, so an
// interrupt does not matter.
func (p *serverProfiles) save() (written string, err error) {
	if len(p.kinds) == 0 {
		return "", nil
	}
	f, err := os.CreateTemp(filepath.Dir(p.path), ".warp-profiles-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name()) // there is none any more after all went well
	err = p.client.ServerProfilesTo(context.Background(), f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), p.path)
	}
	return p.path, err
}
