package cli

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/target"
	"warp/pkg/fleet"
	"warp/pkg/fleet/transport"
)

// fleetFlags say which clients make the load, and how to talk to them.
type fleetFlags struct {
	clients, tokenFile, ca string
	wait                   time.Duration
	waitGiven              func() bool
}

// clientWait is how long a client must answer within where nobody says otherwise: it is on, or it is not.
const clientWait = 5 * time.Second

func (f *fleetFlags) flags() []cli.Flag {
	token := tokenFlag(&f.tokenFile)
	token.Hidden = true // most have it in the variable
	wait := &flagtype.Duration{Name: "warp-client-wait", Value: clientWait, Destination: &f.wait, Hidden: true, Validator: func(d time.Duration) error {
		if d <= 0 {
			return flagtype.Wrong("%v is no time to wait for: write it like 30s or 10m", d)
		}
		return nil
	}, Usage: "with --warp-client: wait up to `TIME` for clients to answer"}
	f.waitGiven = wait.IsSet
	return []cli.Flag{
		&cli.StringFlag{Name: "warp-client", Destination: &f.clients,
			Usage: "run on these `CLIENTS` instead of this machine: a,b:7761,c-{1...10}, file:NAME, or dns:NAME:PORT for all addresses"},
		token,
		&cli.StringFlag{Name: "warp-ca", Destination: &f.ca, TakesFile: true, Hidden: true,
			Usage: "with --warp-client: PEM `FILE` of authorities to verify clients' certificates with, or system for this machine's"},
		wait,
	}
}

func tokenFlag(dst *string) *cli.StringFlag {
	return &cli.StringFlag{Name: "token-file", Destination: dst, TakesFile: true,
		Usage: "read the token that coordinator and clients share from `FILE`; without it, from [WARP_CLIENT_TOKEN]"}
}

const tokenVariable = "WARP_CLIENT_TOKEN"

// readToken is the shared token; empty where there is none.
func readToken(inv *command.Invocation, file string) (string, error) {
	token, _ := inv.Env(tokenVariable)
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", exit.Usagef("--token-file: %w", err)
		}
		if token = strings.TrimSpace(string(text)); token == "" {
			return "", exit.Usagef("--token-file: the file is empty")
		}
	}
	inv.Hide.Add(token)
	if err := transport.CheckToken(token); err != nil {
		return "", exit.Usagef("%w", err)
	}
	return token, nil
}

// options find the clients and what is needed to talk to them.
func (f *fleetFlags) options(ctx context.Context, inv *command.Invocation) (o fleet.Options, err error) {
	o.Warp, o.Logf, o.Warnf, o.ConnectTimeout = thisBuild().version, inv.Notef, inv.Warnf, f.wait
	o.Starting = f.waitGiven()
	if o.Members, err = fleet.ParseMembers(ctx, f.clients, net.DefaultResolver.LookupHost); err != nil {
		return o, exit.Usagef("--warp-client: %w", err)
	}
	if o.Token, err = readToken(inv, f.tokenFile); err != nil {
		return o, err
	}
	if o.Roots, err = f.roots(); err != nil {
		return o, err
	}
	if o.Token != "" {
		return o, nil
	}
	for _, m := range o.Members {
		if host, _, err := net.SplitHostPort(m.Addr); err == nil && !isLoopback(host) {
			return o, exit.Usagef("client %s: without a token, anybody who answers there would receive the keys of the store", m.Addr).
				WithHint("give the coordinator and all clients the same %s or --token-file", tokenVariable)
		}
	}
	return o, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func (f *fleetFlags) roots() (*x509.CertPool, error) {
	switch f.ca {
	case "":
		return nil, nil
	case "system":
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, exit.Errorf("--warp-ca=system: %w", err)
		}
		return pool, nil
	}
	pem, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, exit.Usagef("--warp-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, exit.Usagef("--warp-ca: %s holds no PEM certificate", f.ca)
	}
	return pool, nil
}

// check refuses what does not go with clients on other machines.
func (f *fleetFlags) check(b *benchFlags) error {
	switch {
	case f.clients == "" && (f.ca != "" || f.tokenFile != ""):
		return exit.Usagef("--warp-ca and --token-file need --warp-client")
	case f.clients == "" && f.waitGiven():
		return exit.Usagef("--warp-client-wait needs --warp-client")
	case f.clients == "":
		return nil
	case b.target.Host == target.EmbeddedHost:
		return exit.Usagef("--host=embedded is a store in this process, and --warp-client runs elsewhere: name a store that all clients reach")
	case b.stress && !b.stdout && b.analysis.verbose:
		return exit.Usagef("--analyze.v is about single objects, which --stress with --warp-client does not keep in mind").WithHint("leave out one of them")
	case b.profile.Any():
		return exit.Usagef("--cpu, --mem and their like are profiles of this process, which makes no load with --warp-client").
			WithHint("leave them out, or run the benchmark without --warp-client; --serverprof has the store profile itself")
	case b.target.Signature == "IAM":
		return exit.Usagef("--signature=IAM does not go with --warp-client: its keys expire while clients use them").
			WithHint("use --access-key and --secret-key, or a --profile with keys that last")
	}
	return nil
}

// syncFlag is when to begin to measure.
type syncFlag struct{ text string }

func (s *syncFlag) flag() cli.Flag {
	return &cli.StringFlag{Name: "syncstart", Destination: &s.text, Hidden: true, Validator: func(text string) error {
		_, err := startTime(text, time.Now())
		return err
	}, Usage: "start the measurement at `TIME`, hh:mm or RFC 3339, so that runs on several machines start together"}
}

// soon is how far ahead a time without a date may be: beyond it, it has most
// likely just passed.
const soon = 12 * time.Hour

func startTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		if at.Before(now) {
			return at, flagtype.Wrong("%s has passed", text)
		}
		return at, nil
	}
	clock, err := time.ParseInLocation("15:04", text, now.Location())
	if err != nil {
		return clock, flagtype.Wrong("%q is not a time; write it like 15:04 or 2006-01-02T15:04:05Z", text)
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if at.Before(now) {
		at = time.Date(now.Year(), now.Month(), now.Day()+1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	if at.Sub(now) > soon {
		return at, flagtype.Wrong("%s is more than 12 hours away; write the date too, like %s", text, at.Format(time.RFC3339))
	}
	return at, nil
}

// at is the time to begin; zero is at once. The flag was checked before.
func (s *syncFlag) at() time.Time {
	at, _ := startTime(s.text, time.Now())
	return at
}

// gate waits for the time, in a run of this process.
func (s *syncFlag) gate(inv *command.Invocation) func(context.Context) (time.Time, error) {
	start := s.at()
	if start.IsZero() {
		return nil
	}
	return func(context.Context) (time.Time, error) {
		if time.Now().After(start) {
			return start, exit.Errorf("--syncstart=%s has passed while the run was prepared", s.text).WithHint("begin earlier, or choose a later time")
		}
		inv.Notef("ready; measuring begins at %s", start.Format("15:04:05"))
		return start, nil
	}
}
