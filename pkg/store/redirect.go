package store

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// IsRedirect reports whether a status redirects a request with its method and payload unchanged.
func IsRedirect(status int) bool { return status == 307 || status == 308 }

// Redirects contains the hosts to which a store may redirect requests. The requests carry
// credentials there, so only the store's own domain and the hosts that the user names are allowed.
type Redirects struct {
	name    string // the store's host, without a port
	domain  string // the store owns the names below it; "" = the store owns only its name
	scheme  string
	allowed []string // name, name:port, or *.domain
}

// NewRedirects returns the rules for the host a of cfg.
func NewRedirects(cfg *Config, a *Address) *Redirects {
	r := &Redirects{scheme: "http", allowed: cfg.RedirectHosts}
	if cfg.TLS {
		r.scheme = "https"
	}
	if name, _, err := splitHost(a.Name); err == nil {
		r.name = plainName(name)
		r.domain = ownDomain(r.name)
	}
	return r
}

// ParseRedirectHosts parses the value of --redirect-hosts: hosts as in [ParseHosts], or *.domain
// for all names below a domain.
func ParseRedirectHosts(spec string) ([]string, error) {
	var all []string
	for item := range ListItems(spec) {
		below, wild := strings.CutPrefix(item, "*.")
		hosts, err := ParseHosts(below)
		switch {
		case err != nil:
			return nil, err
		case !wild:
			all = append(all, hosts...)
			continue
		case isAddress(below) || strings.ContainsAny(below, ":[{") || isPublic(plainName(below)):
			return nil, fmt.Errorf("host %q: after *. there has to be a domain with a name of its own, such as *.example.com", item)
		}
		all = append(all, item)
	}
	return all, nil
}

// Target returns the new address of a request that was redirected to location. Only the host, the
// path and the query may change; otherwise it returns an [Error] that names the difference.
func (r *Redirects) Target(from *url.URL, location string, status int) (*url.URL, error) {
	to, _, err := r.TargetIn(from, location, status, nil)
	return to, err
}

// TargetIn is like Target, for a store that names other hosts of its own; known reports whether a
// host is one of them. If it returns trusted as false, the request must go there without
// credentials, because only the store vouches for the host.
func (r *Redirects) TargetIn(from *url.URL, location string, status int, known func(host string) bool) (to *url.URL, trusted bool, err error) {
	to, err = from.Parse(location)
	if err != nil {
		err = errors.New("not the address of a host") // err contains all of it, including a signature
	} else if err = r.check(from, to); err == nil {
		to.Host = strings.ToLower(to.Host)
		if trusted = r.allows(to); !trusted && (known == nil || !known(to.Host)) {
			err = fmt.Errorf("that is outside of its own domain; if it may have your credentials, allow it with --redirect-hosts=%s", to.Host)
		}
	}
	if err != nil {
		return nil, false, Errorf(CodeRedirect, status, "the store redirects this request to %s: %v", shownLocation(location), err)
	}
	to.Fragment, to.RawFragment = "", ""
	if to.Path == "" {
		to.Path = "/"
	}
	return to, trusted, nil
}

func (r *Redirects) check(from, to *url.URL) error {
	switch {
	case location(to) == location(from):
		return errors.New("that is where it was sent")
	case to.Opaque != "" || to.Host == "":
		return errors.New("not the address of a host")
	case to.User != nil:
		return errors.New("keys do not belong in an address")
	case to.Scheme != r.scheme:
		return fmt.Errorf("warp does not change from %s to %s for that", r.scheme, OneLine(to.Scheme))
	}
	return checkHost(to.Host)
}

// location returns an address without the parts that are never sent.
func location(u *url.URL) string {
	return u.Scheme + "://" + strings.ToLower(u.Host) + u.EscapedPath() + "?" + u.RawQuery
}

// shownLocation returns a location without its query and keys, because the query may contain a
// signature.
func shownLocation(text string) string {
	text, _, _ = strings.Cut(text, "?")
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		authority, path := splitPath(rest)
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			authority = "***" + authority[at:]
		}
		text = scheme + "://" + authority + path
	}
	return OneLine(text)
}

func (r *Redirects) allows(to *url.URL) bool {
	name := plainName(to.Hostname())
	if name == r.name || r.owns(name) {
		return true
	}
	for _, host := range r.allowed {
		if below, wild := strings.CutPrefix(host, "*."); wild {
			if !isAddress(name) && strings.HasSuffix(name, "."+plainName(below)) {
				return true
			}
			continue
		}
		allowed, port, err := splitHost(host)
		if err == nil && plainName(allowed) == name && (port == "" || port == portOf(to)) {
			return true
		}
	}
	return false
}

// owns reports whether a name is in the store's own domain. It excludes domains below it in which
// strangers can have names.
func (r *Redirects) owns(name string) bool {
	if r.domain == "" || isAddress(name) || !strings.HasSuffix(name, "."+r.domain) {
		return false
	}
	here, err := publicsuffix.EffectiveTLDPlusOne(r.name)
	there, wrong := publicsuffix.EffectiveTLDPlusOne(name)
	return err == nil && wrong == nil && here == there
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// plainName normalizes a name or address for comparison.
func plainName(name string) string {
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// ownDomain returns the domain above the host's name, whose other hosts count as the store's own.
// If strangers can have names there too, as in co.uk, it returns the name itself. Addresses and
// names without a dot have no such domain.
func ownDomain(name string) string {
	if isAddress(name) || !strings.Contains(name, ".") {
		return ""
	}
	_, above, _ := strings.Cut(name, ".")
	switch {
	case isPublic(name):
		return ""
	case isPublic(above):
		return name
	}
	return above
}

// isPublic reports whether strangers can have names directly below a domain.
func isPublic(domain string) bool {
	_, err := publicsuffix.EffectiveTLDPlusOne(domain)
	return err != nil
}

// RedirectedAgain returns the error of a request that was redirected to an address, and from there
// to next. Redirects are followed once.
func RedirectedAgain(at *url.URL, location string, status int) *Error {
	host := location
	if next, err := at.Parse(location); err == nil {
		host = next.Scheme + "://" + next.Host
	}
	return Errorf(CodeRedirect, status, "the store redirects this request in circles: %s://%s sends it on to %s", at.Scheme, at.Host, OneLine(host))
}
