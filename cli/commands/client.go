package commands

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/session"
	"warp/pkg/bench"
	"warp/pkg/fleet/agent"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/store/dial"
)

// clientFlags are the flags of a machine that makes load for a coordinator.
type clientFlags struct {
	tokenFile, cert, key string
	selfSigned           bool
}

// clockSkew shifts the clock of a client. Only tests of fleets set it, when they link a client:
// -ldflags "-X warp/cli/commands.clockSkew=300ms".
var clockSkew string

func clientCommand() *command.Command {
	f := &clientFlags{}
	return &command.Command{
		Name: "client", Args: "[ADDRESS]", Section: command.SectionOther,
		Summary: "generate load for a coordinator (--warp-client)",
		About: []string{
			"Listens on ADDRESS, 127.0.0.1:" + protocol.DefaultPort + " by default, for one coordinator at a time. Addresses other than",
			"loopback need a token. Logs go to the current folder.",
		},
		Examples: []string{
			"WARP_CLIENT_TOKEN=… warp client 0.0.0.0:" + protocol.DefaultPort,
			"WARP_CLIENT_TOKEN=… warp get --warp-client=load-{1...4} --host=…",
		},
		Groups: []command.Group{{Title: command.RunTitle, Flags: []cli.Flag{
			session.TokenFlag(&f.tokenFile),
			&cli.BoolFlag{Name: "tls-self-signed", Destination: &f.selfSigned,
				Usage: "print the fingerprint of the new TLS certificate, so that the coordinator's list of clients can pin it"},
			&cli.StringFlag{Name: "tls-cert", Destination: &f.cert, TakesFile: true, Usage: "use the TLS certificate in this PEM `FILE` instead of a new one"},
			&cli.StringFlag{Name: "tls-key", Destination: &f.key, TakesFile: true, Usage: "with --tls-cert: PEM `FILE` of its key"},
		}}},
		MaxArgs: 1, Needs: "at most one address",
		Run: func(ctx context.Context, inv *command.Invocation) error { return f.serve(ctx, inv) },
	}
}

func (f *clientFlags) serve(ctx context.Context, inv *command.Invocation) error {
	token, err := session.ReadToken(inv, f.tokenFile)
	if err != nil {
		return err
	}
	addr, source, err := listenAddress(inv.Args, token)
	if err != nil {
		return err
	}
	config, fingerprint, err := f.certificate()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return exit.Errorf("%w", err)
	}
	skew, _ := time.ParseDuration(clockSkew)
	if skew != 0 {
		inv.Warnf("the clock is shifted by %v", skew)
	}
	a := agent.New(agent.Options{
		Warp: inv.Version, Token: token, Folder: ".", Skew: skew, SourceIP: source,
		Operation: benchmarks.OperationOf, Logf: inv.Notef,
		Redact: func(secrets ...string) func(string) string {
			inv.Hide.Add(secrets...)
			return inv.Hide.Text
		},
	})
	inv.Notef("warp %s listens at %s for a coordinator", inv.Version, l.Addr())
	if token == "" {
		inv.Notef("there is no token, so only this machine can connect; %s or --token-file set one", session.TokenVariable)
	}
	if fingerprint != "" {
		inv.Notef("the coordinator's --warp-client for this client: %s#sha256=%s", l.Addr(), fingerprint)
	}
	err = a.Serve(ctx, l, config)
	if errors.Is(err, bench.ErrInterrupted) {
		return nil // that is how it ends
	}
	return err
}

// listenAddress returns the address to listen at, and the source address of
// connections to the store if the user has chosen one of several interfaces.
func listenAddress(args []string, token string) (addr string, source netip.Addr, err error) {
	addr = net.JoinHostPort("127.0.0.1", protocol.DefaultPort)
	if len(args) > 0 {
		addr = args[0]
		if _, _, err := net.SplitHostPort(addr); err != nil {
			addr = net.JoinHostPort(addr, protocol.DefaultPort)
		}
	}
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return "", source, exit.Usagef("cannot listen at %q: %w; write an address of this machine and a port up to 65535", addr, err)
	}
	ip, ok := netip.AddrFromSlice(tcp.IP)
	if !ok {
		ip = netip.IPv6Unspecified() // all interfaces
	}
	ip = ip.Unmap()
	if err := transport.CheckToken(token, ip); err != nil {
		return "", source, exit.Usagef("%w", err)
	}
	host, _, _ := net.SplitHostPort(addr)
	if explicit, err := netip.ParseAddr(host); err == nil && !explicit.IsLoopback() && !explicit.IsUnspecified() {
		source = explicit.Unmap()
	}
	return addr, source, nil
}

// certificate returns the configuration of TLS, nil to make a certificate, and the
// fingerprint of the certificate if --tls-self-signed is given.
func (f *clientFlags) certificate() (config *tls.Config, fingerprint string, err error) {
	switch {
	case (f.cert == "") != (f.key == ""):
		return nil, "", exit.Usagef("--tls-cert and --tls-key must be given together")
	case f.cert != "" && f.selfSigned:
		return nil, "", exit.Usagef("--tls-self-signed and --tls-cert cannot be combined")
	case f.selfSigned:
		return transport.SelfSigned()
	case f.cert == "":
		return nil, "", nil
	}
	for _, name := range []string{f.cert, f.key} {
		if _, err := os.Stat(name); err != nil {
			return nil, "", exit.Usagef("--tls-cert and --tls-key: %w", err)
		}
	}
	pair, err := dial.ReadKeyPair(f.cert, f.key)
	if err != nil {
		return nil, "", exit.Usagef("--tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}, "", nil
}
