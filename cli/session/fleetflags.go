package session

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/internal/wholefile"
	"warp/pkg/fleet"
	"warp/pkg/fleet/transport"
)

// FleetFlags name the clients that make the load, and how to connect to them.
type FleetFlags struct {
	Clients       string // --warp-client; "" = this process makes the load
	tokenFile, ca string
	wait          time.Duration
	waitGiven     func() bool
}

// defaultWait is the default of --warp-client-wait, for clients that run already.
const defaultWait = 5 * time.Second

// FleetFlags returns the flags.
func (f *FleetFlags) Flags() []cli.Flag {
	token := TokenFlag(&f.tokenFile)
	token.Hidden = true // most have it in the variable
	wait := &flagtype.Duration{Name: "warp-client-wait", Value: defaultWait, Destination: &f.wait, Hidden: true, Validator: func(d time.Duration) error {
		if d <= 0 {
			return flagtype.Wrong("%v is not a valid waiting time: write it like 30s or 10m", d)
		}
		return nil
	}, Usage: "with --warp-client: wait up to `TIME` for clients to answer"}
	f.waitGiven = wait.IsSet
	return []cli.Flag{
		&cli.StringFlag{Name: "warp-client", Destination: &f.Clients,
			Usage: "use these `CLIENTS` instead of this machine: a,b:7761,c-{1...10}, file:NAME, or dns:NAME:PORT for all addresses"},
		token,
		&cli.StringFlag{Name: "warp-ca", Destination: &f.ca, TakesFile: true, Hidden: true,
			Usage: "with --warp-client: verify clients' certificates with the authorities in PEM `FILE`, or with this machine's (system)"},
		wait,
	}
}

// TokenFlag returns the flag --token-file.
func TokenFlag(dst *string) *cli.StringFlag {
	return &cli.StringFlag{Name: "token-file", Destination: dst, TakesFile: true,
		Usage: "read the token of coordinator and clients from `FILE` instead of [WARP_CLIENT_TOKEN]"}
}

// TokenVariable is the environment variable with the token.
const TokenVariable = "WARP_CLIENT_TOKEN"

// ReadToken returns the token in the file or the variable; "" if there is none.
func ReadToken(inv *command.Invocation, file string) (string, error) {
	token := inv.Env.Value(TokenVariable)
	if file != "" {
		text, err := wholefile.Read(file, wholefile.Small)
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

// Size returns the number of clients; 0 if this process makes the load, or if it depends on a lookup of their names.
func (f *FleetFlags) Size() int {
	if f.Clients == "" {
		return 0
	}
	members, err := fleet.ParseMembers(context.Background(), f.Clients, noLookup)
	if err != nil {
		return 0
	}
	return len(members)
}

func noLookup(context.Context, string) ([]string, error) {
	return nil, errors.New("names are not resolved yet")
}

// Options finds the clients and reads the token and the certificates.
func (f *FleetFlags) Options(ctx context.Context, inv *command.Invocation) (o fleet.Options, err error) {
	o.Warp, o.Logf, o.Warnf, o.ConnectTimeout = inv.Version, inv.Notef, inv.Warnf, f.wait
	o.Starting = f.waitGiven()
	if o.Members, err = fleet.ParseMembers(ctx, f.Clients, net.DefaultResolver.LookupHost); err != nil {
		return o, exit.Usagef("--warp-client: %w", err)
	}
	if o.Token, err = ReadToken(inv, f.tokenFile); err != nil {
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
				WithHint("give the coordinator and all clients the same %s or --token-file", TokenVariable)
		}
	}
	return o, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func (f *FleetFlags) roots() (*x509.CertPool, error) {
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
	pem, err := wholefile.Read(f.ca, wholefile.Small)
	if err != nil {
		return nil, exit.Usagef("--warp-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, exit.Usagef("--warp-ca: %s holds no PEM certificate", f.ca)
	}
	return pool, nil
}

// Check returns an error if flags are given that need --warp-client.
func (f *FleetFlags) Check() error {
	switch {
	case f.Clients == "" && (f.ca != "" || f.tokenFile != ""):
		return exit.Usagef("--warp-ca and --token-file need --warp-client")
	case f.Clients == "" && f.waitGiven():
		return exit.Usagef("--warp-client-wait needs --warp-client")
	}
	return nil
}
