package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"warp/cli/exit"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// serverProfiles are MinIO's profiles of itself during a run.
type serverProfiles struct {
	kinds   []string // none = not wanted
	path    string   // of the ZIP, beside the op log
	client  *store.Client
	running bool // at the store, for all that is known here
}

func parseServerProfiles(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	kinds, err := store.ParseServerProfiles(text)
	if err != nil {
		return nil, exit.Usagef("--serverprof: %w", err)
	}
	return kinds, nil
}

func (f *benchFlags) checkServerProfiles() error {
	if err := f.target.Require(f.serverprof != "", "--serverprof", engines.Profiles); err != nil {
		return err
	}
	_, err := parseServerProfiles(f.serverprof)
	return err
}

// startServerProfiles finds out before the load whether the store does that.
// They begin anew when the run is measured: what it costs to prepare objects
// is not asked for.
func (s *session) startServerProfiles(ctx context.Context) error {
	kinds, err := parseServerProfiles(s.flags.serverprof)
	if err != nil || len(kinds) == 0 {
		return err
	}
	path := strings.TrimSuffix(s.path, logSuffix) + ".profiles.zip"
	if _, err := os.Lstat(path); err == nil {
		return exit.Usagef("--serverprof: %s exists already", path).WithHint("choose another --benchdata or move it away")
	}
	client, err := s.load.store(ctx)
	if err != nil {
		return err
	}
	s.server = serverProfiles{kinds: kinds, path: path, client: client}
	err = s.server.begin(ctx)
	var nobody *store.UnreachableError
	switch code := store.CodeOf(err); {
	case err == nil:
		return nil
	case code == store.CodeTLS:
		return exit.Errorf("--serverprof: %w", s.flags.target.Explain(err))
	case code == "AccessDenied" || code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch":
		return exit.Errorf("--serverprof: %w", err).WithHint("use keys of an administrator of the store, or leave it out")
	case s.flags.fleet.clients != "" && errors.As(err, &nobody):
		return exit.Errorf("--serverprof: %v", nobody).WithHint("with --warp-client the coordinator asks for the profiles, and it does not reach the store: start it where it does, or leave out --serverprof")
	}
	return exit.Errorf("--serverprof: %w", err).WithHint("leave it out")
}

// begin starts them, anew if they run already.
func (p *serverProfiles) begin(ctx context.Context) error {
	if len(p.kinds) == 0 {
		return nil
	}
	err := p.client.StartServerProfiles(ctx, p.kinds)
	p.running = p.running || err == nil || ctx.Err() != nil // it may have arrived
	return err
}

// beginServerProfiles has them begin anew. It comes before the measured time,
// of which it would otherwise take a share: a MinIO that begins with "mem" first
// collects its garbage, and answers when that is done.
func (s *session) beginServerProfiles(ctx context.Context) {
	if err := s.server.begin(ctx); err != nil && ctx.Err() == nil {
		s.Warnf("--serverprof: %v", err)
	}
}

// profileLead is how long before a start at a given time the profiles begin
// anew. Earlier they would be full of waiting.
const profileLead = 2 * time.Second

// gate is where a run of this process waits until it may be measured. The gate
// of --syncstart is nil where that was not given.
func (s *session) gate(sync func(context.Context) (time.Time, error)) func(context.Context) (time.Time, error) {
	if len(s.flags.serverprof) == 0 {
		return sync
	}
	return func(ctx context.Context) (time.Time, error) {
		if sync == nil {
			s.beginServerProfiles(ctx)
			return time.Now(), nil
		}
		start, err := sync(ctx)
		if err != nil {
			return start, err
		}
		soon := time.NewTimer(time.Until(start.Add(-profileLead)))
		defer soon.Stop()
		select {
		case <-ctx.Done():
			return start, context.Cause(ctx)
		case <-soon.C:
		}
		s.beginServerProfiles(ctx)
		return start, nil
	}
}

// saveServerProfiles ends them and writes the ZIP. The run is over, so an interrupt does not
// matter.
func (s *session) saveServerProfiles() {
	p := &s.server
	if !p.running {
		return
	}
	p.running = false
	if err := p.save(); err != nil {
		s.Warnf("--serverprof: %v", err)
		return
	}
	s.Notef("server profiles written to %q", p.path)
}

func (p *serverProfiles) save() error {
	f, err := os.CreateTemp(filepath.Dir(p.path), ".warp-profiles-*")
	if err != nil {
		return errors.Join(err, p.stop())
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
	return err
}

// discardServerProfiles ends the profiles of a run that was not measured: a store
// profiles itself until somebody fetches what it has.
func (s *session) discardServerProfiles() {
	if !s.server.running {
		return
	}
	s.server.running = false
	if err := s.server.stop(); err != nil {
		s.Warnf("--serverprof: the store may still profile itself: %v", err)
	}
}

func (p *serverProfiles) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return p.client.ServerProfilesTo(ctx, io.Discard)
}
