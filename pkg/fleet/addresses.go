package fleet

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"

	"warp/internal/wholefile"
	"warp/pkg/fleet/protocol"
	"warp/pkg/store"
)

// maxMembers limits the clients of one coordinator.
const maxMembers = 10_000

// pinMark separates an address from the fingerprint of its certificate.
const pinMark = "#sha256="

// A Member is a client as given by the user.
type Member struct {
	Addr string // host:port
	Pin  []byte // SHA-256 of its certificate; nil if not given
}

// String returns the member as messages name it.
func (m Member) String() string { return m.Addr }

// A memberList collects clients without duplicates.
type memberList struct {
	members []Member
	seen    map[string]bool
	lookup  func(ctx context.Context, host string) ([]string, error)
}

// ParseMembers reads the value of --warp-client: hosts with or without a port,
// separated by commas, with ranges like c-{1...10}; file:NAME is a list with one
// such specification per line, in which "#" at the start or after a space begins
// a comment; dns:NAME:PORT is every address of the name. An address can be
// followed by #sha256= and the fingerprint of its certificate.
func ParseMembers(ctx context.Context, spec string, lookup func(ctx context.Context, host string) ([]string, error)) ([]Member, error) {
	l := &memberList{seen: map[string]bool{}, lookup: lookup}
	if err := l.add(ctx, spec, true); err != nil {
		return nil, err
	}
	if len(l.members) == 0 {
		return nil, errors.New("no client is named")
	}
	return l.members, nil
}

func (l *memberList) add(ctx context.Context, spec string, files bool) error {
	for item := range store.ListItems(spec) {
		name, isFile := strings.CutPrefix(item, "file:")
		host, isName := strings.CutPrefix(item, "dns:")
		var err error
		switch {
		case isFile && !files:
			err = fmt.Errorf("client %q: a list names clients, not further lists", item)
		case isFile:
			err = l.addFile(ctx, name)
		case isName:
			err = l.addName(ctx, host)
		default:
			err = l.addHosts(item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *memberList) addFile(ctx context.Context, path string) error {
	text, err := wholefile.Read(path, wholefile.Small)
	if err != nil {
		return fmt.Errorf("list of clients: %w", err)
	}
	number, before := 0, len(l.members)
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		number++
		if line = strings.TrimSpace(withoutComment(line)); line == "" {
			continue
		}
		if err := l.add(ctx, line, false); err != nil {
			return fmt.Errorf("list of clients %s, line %d: %w", path, number, err)
		}
	}
	if len(l.members) == before {
		return fmt.Errorf("list of clients %s: there is no client in it", path)
	}
	return nil
}

// withoutComment removes a comment. The # of a fingerprint directly follows its
// address.
func withoutComment(line string) string {
	if strings.HasPrefix(line, "#") {
		return ""
	}
	for _, mark := range []string{" #", "\t#"} {
		line, _, _ = strings.Cut(line, mark)
	}
	return line
}

// addName adds every address of a name.
func (l *memberList) addName(ctx context.Context, spec string) error {
	name, pin, err := cutPin(spec)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(withPort(name))
	if err != nil {
		return fmt.Errorf("client %q: want dns:NAME:PORT", "dns:"+spec)
	}
	addrs, err := l.lookup(ctx, host)
	if err != nil {
		return fmt.Errorf("client %q: %w", "dns:"+spec, err)
	}
	for _, a := range addrs {
		if err := l.addMember(Member{Addr: net.JoinHostPort(a, port), Pin: pin}); err != nil {
			return err
		}
	}
	return nil
}

func (l *memberList) addHosts(item string) error {
	item, pin, err := cutPin(item)
	if err != nil {
		return err
	}
	if _, address, isURL := strings.Cut(item, "://"); isURL {
		return fmt.Errorf("client %q is a URL: write %s; it is always TLS, and a fingerprint after it (%s…) or --warp-ca checks the certificate",
			item, strings.TrimRight(address, "/"), pinMark)
	}
	hosts, err := store.ParseHosts(item)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if err := l.addMember(Member{Addr: withPort(h), Pin: pin}); err != nil {
			return err
		}
	}
	return nil
}

func (l *memberList) addMember(m Member) error {
	if l.seen[m.Addr] {
		return fmt.Errorf("client %s is named twice: a client has one share of a run", m.Addr)
	}
	if len(l.members) == maxMembers {
		return fmt.Errorf("more than %d clients", maxMembers)
	}
	l.seen[m.Addr] = true
	l.members = append(l.members, m)
	return nil
}

func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), protocol.DefaultPort)
}

func cutPin(item string) (addr string, pin []byte, err error) {
	addr, text, found := strings.Cut(item, pinMark)
	if !found {
		return item, nil, nil
	}
	pin, err = hex.DecodeString(text)
	if err != nil || len(pin) != 32 {
		return "", nil, fmt.Errorf("client %q: the fingerprint after %s is not 64 hexadecimal digits", item, pinMark)
	}
	return addr, pin, nil
}
