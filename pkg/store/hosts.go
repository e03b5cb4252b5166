package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"warp/internal/wholefile"
)

// maxHosts stops a mistyped range before it fills the memory.
const maxHosts = 100_000

// ParseHosts parses the value of --host: hosts with or without a port, separated by commas. {1...8}
// expands to each number of the range. It may occur in the name or the port, and more than once.
// With leading zeros ({01...10}) all numbers have that many digits. "file:path" reads a list with
// one such specification per line, in which "#" begins a comment. A host that occurs more than once
// counts once, because requests in flight are counted per host.
func ParseHosts(spec string) ([]string, error) {
	var list hostList
	err := list.parse(spec)
	return list.hosts, err
}

// ParseEndpoints is like [ParseHosts], but a host may be a URL and may have a path below which the
// store is, as in gateway:51080/s3. It also returns the scheme of the URLs: http, https, or "" if
// there are none.
func ParseEndpoints(spec string) (hosts []string, scheme string, err error) {
	list := hostList{urls: true}
	err = list.parse(spec)
	return list.hosts, list.scheme, err
}

func (l *hostList) parse(spec string) error {
	if path, ok := strings.CutPrefix(strings.TrimSpace(spec), "file:"); ok {
		return l.addFile(path)
	}
	return l.add(spec)
}

// ListItems returns the items of a comma-separated flag value, without spaces around them.
func ListItems(spec string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(spec, ",") {
			if !yield(strings.TrimSpace(item)) {
				return
			}
		}
	}
}

// A hostList collects distinct hosts.
type hostList struct {
	hosts  []string
	seen   map[string]bool
	urls   bool   // URLs and paths are allowed
	scheme string // the scheme of all URLs so far
}

func (l *hostList) addFile(path string) error {
	text, err := wholefile.Read(path, wholefile.Small)
	if err != nil {
		return fmt.Errorf("list of hosts: %w", err)
	}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := l.add(line); err != nil {
			return fmt.Errorf("list of hosts %s, line %d: %w", path, number, err)
		}
	}
	if len(l.hosts) == 0 {
		return fmt.Errorf("list of hosts %s: there is no host in it", path)
	}
	return nil
}

func (l *hostList) add(spec string) error {
	for item := range ListItems(spec) {
		item, err := l.address(item)
		if err != nil {
			return err
		}
		all, err := expandRanges("host", item)
		if err != nil {
			return err
		}
		for _, host := range all {
			if err := l.addHost(host); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *hostList) addHost(host string) error {
	if err := l.check(host); err != nil {
		return fmt.Errorf("host %q: %w", host, err)
	}
	if l.seen[host] {
		return nil
	}
	if len(l.hosts) == maxHosts {
		return fmt.Errorf("more than %d hosts", maxHosts)
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[host] = true
	l.hosts = append(l.hosts, host)
	return nil
}

// check checks one host with all ranges replaced.
func (l *hostList) check(host string) error {
	if !l.urls {
		return checkHost(host)
	}
	name, path := splitPath(host)
	if err := checkHost(name); err != nil {
		return err
	}
	return checkPath(path)
}

// splitPath separates the path from the host. The path is empty or begins with a slash.
func splitPath(host string) (name, path string) {
	if slash := strings.IndexByte(host, '/'); slash >= 0 {
		return host[:slash], host[slash:]
	}
	return host, ""
}

// maxPath bounds the path of an endpoint.
const maxPath = 256

// checkPath checks the path of an endpoint. It rejects characters that URLs escape.
func checkPath(path string) error {
	for _, c := range path {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/", c) {
			return fmt.Errorf("%q cannot be in the path of an endpoint", c)
		}
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path != "" && (part == "" || part == "." || part == "..") {
			return fmt.Errorf(`the path %s has a part that is empty, "." or ".."`, path)
		}
	}
	if len(path) > maxPath {
		return fmt.Errorf("the path has %d characters; the maximum is %d", len(path), maxPath)
	}
	return nil
}

// address extracts the host from an item. It first rejects what people paste by mistake, so that
// nothing of it is used as a name.
func (l *hostList) address(item string) (string, error) {
	if item == "" {
		return "", errors.New("a host is empty: want host:port, separated by commas")
	}
	if strings.HasPrefix(item, "file:") {
		return "", fmt.Errorf("host %q: a file with a list of hosts must be given alone", item)
	}
	scheme, rest, isURL := strings.Cut(item, "://")
	if !isURL {
		rest = item
	}
	scheme = strings.ToLower(scheme)
	switch {
	case isURL && !l.urls:
		host, _ := splitPath(rest)
		return "", fmt.Errorf("%q is a URL: write %s", item, host)
	case isURL && scheme != "http" && scheme != "https":
		return "", fmt.Errorf("host %q: warp supports http and https, not %s", item, scheme)
	case strings.Contains(rest, "?") && strings.Contains(rest, "sig="):
		name, _, _ := strings.Cut(item, "?")
		return "", fmt.Errorf("host %q: an address has no shared access signature in it: give that to --access-token", name)
	case isURL && strings.Contains(rest, "@"):
		return "", fmt.Errorf("host %q: an address must not contain keys: leave them out, and use --access-key and --secret-key", item)
	case isURL && l.scheme != "" && l.scheme != scheme:
		return "", errors.New("some hosts are URLs of http and others of https, and a run uses one of them for all hosts")
	case isURL:
		l.scheme = scheme
	}
	return strings.TrimSuffix(rest, "/"), nil
}

// expandRanges replaces each {low...high} by each of its numbers. The last range varies fastest.
// what names the kind of item in errors.
func expandRanges(what, item string) ([]string, error) {
	all := []string{""}
	for rest := item; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		numbers := []string{""}
		if found {
			inner, tail, closed := strings.Cut(after, "}")
			if !closed {
				return nil, fmt.Errorf("%s %q: a { has no }", what, item)
			}
			var err error
			if numbers, err = rangeNumbers(inner); err != nil {
				return nil, fmt.Errorf("%s %q: %w", what, item, err)
			}
			after = tail
		}
		if len(all)*len(numbers) > maxHosts {
			return nil, fmt.Errorf("%s %q names more than %d %ss", what, item, maxHosts, what)
		}
		all, rest = product(all, before, numbers), after
	}
	return all, nil
}

func product(heads []string, middle string, tails []string) []string {
	all := make([]string, 0, len(heads)*len(tails))
	for _, head := range heads {
		for _, tail := range tails {
			all = append(all, head+middle+tail)
		}
	}
	return all
}

func rangeNumbers(text string) ([]string, error) {
	lowText, highText, ok := strings.Cut(text, "...")
	low, lowErr := strconv.ParseUint(lowText, 10, 32)
	high, highErr := strconv.ParseUint(highText, 10, 32)
	switch {
	case !ok || lowErr != nil || highErr != nil:
		return nil, fmt.Errorf("{%s} is not a range of numbers like {1...8}", text)
	case low > high:
		return nil, fmt.Errorf("the range {%s} runs backwards", text)
	case high-low >= maxHosts:
		return nil, fmt.Errorf("the range {%s} has more than %d numbers", text, maxHosts)
	case (padded(lowText) || padded(highText)) && len(lowText) != len(highText):
		return nil, fmt.Errorf("the range {%s} has leading zeros but numbers of different lengths", text)
	}
	numbers := make([]string, 0, high-low+1)
	for n := low; n <= high; n++ {
		numbers = append(numbers, fmt.Sprintf("%0*d", len(lowText), n))
	}
	return numbers, nil
}

func padded(number string) bool { return len(number) > 1 && number[0] == '0' }

// checkHost checks one host with all ranges replaced.
func checkHost(host string) error {
	name, port, err := splitHost(host)
	if err != nil {
		return err
	}
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' {
			return fmt.Errorf("the port %q is not a number from 1 to 65535", port)
		}
	}
	if strings.Contains(name, ":") {
		if _, err := netip.ParseAddr(name); err != nil {
			return fmt.Errorf("%q is not an IPv6 address", name)
		}
		return nil
	}
	for _, c := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._", c) {
			return fmt.Errorf("%q cannot be in the name of a host", c)
		}
	}
	return nil
}

// splitHost splits a host into its name and port. It removes the brackets of an IPv6 address. The
// port may be empty.
func splitHost(host string) (name, port string, err error) {
	rest := ""
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if name, rest, ok = strings.Cut(inner, "]"); !ok || !strings.Contains(name, ":") {
			return "", "", errors.New("want an IPv6 address in brackets, like [::1]:9000")
		}
	} else {
		end := strings.IndexByte(host, ':')
		if end != strings.LastIndexByte(host, ':') {
			return "", "", errors.New("has several colons; an IPv6 address goes in brackets, like [::1]:9000")
		}
		if end < 0 {
			end = len(host)
		}
		name, rest = host[:end], host[end:]
	}
	switch {
	case name == "":
		return "", "", errors.New("has no name before the port")
	case rest == ":":
		return "", "", errors.New("has no port after the colon")
	case rest != "" && rest[0] != ':':
		return "", "", fmt.Errorf("%q follows the address", rest)
	}
	return name, strings.TrimPrefix(rest, ":"), nil
}

// Addresses returns addresses that are resolved whenever a connection is made.
func Addresses(hosts []string) []Address {
	all := make([]Address, len(hosts))
	for i, host := range hosts {
		all[i].Name, all[i].Path = splitPath(host)
	}
	return all
}

// ResolveHosts implements --resolve-host: it returns one address for each IP address of each host.
// lookup is net.Resolver.LookupHost, and defaultPort is for hosts without one. Requests keep the
// name, which certificates and signatures depend on. Numeric addresses are not looked up.
func ResolveHosts(ctx context.Context, hosts []string, defaultPort string,
	lookup func(context.Context, string) ([]string, error)) ([]Address, error) {
	var all []Address
	seen := map[Address]bool{}
	for _, a := range Addresses(hosts) {
		host := a.Name
		name, port, err := splitHost(host)
		if err != nil {
			return nil, fmt.Errorf("host %q: %w", host, err)
		}
		if port == "" {
			port = defaultPort
		}
		addresses, err := resolve(ctx, name, lookup)
		if err != nil {
			return nil, fmt.Errorf("resolve host %s: %w", host, err)
		}
		for _, ip := range addresses {
			a.Dial = net.JoinHostPort(ip, port)
			if !seen[a] {
				seen[a] = true
				all = append(all, a)
			}
		}
	}
	return all, nil
}

func resolve(ctx context.Context, name string, lookup func(context.Context, string) ([]string, error)) ([]string, error) {
	if _, err := netip.ParseAddr(name); err == nil {
		return []string{name}, nil
	}
	addresses, err := lookup(ctx, name)
	if err == nil && len(addresses) == 0 {
		err = errors.New("it has no address")
	}
	return addresses, err
}
