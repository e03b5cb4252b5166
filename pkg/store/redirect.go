package store

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// IsRedirect says whether an answer's status sends the same request to another address, with its method and its payload.
func IsRedirect(status int) bool { return status == 307 || status == 308 }

// Redirects say to which hosts a store may redirect requests, which takes their credentials there: its own domain, and
// the hosts that the user names.
type Redirects struct {
	name    string // of the store, without a port
	domain  string // the names below it are the store's own; "" = only its name is
	scheme  string
	allowed []string // name, name:port, or *.domain
}

// NewRedirects returns what holds for the host a of cfg.
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

// ParseRedirectHosts reads the value of --redirect-hosts: hosts as [ParseHosts] reads them, or *.domain for all names
// below a domain.
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

// Target is where a request goes that was answered with a redirect to location. Everything but the host, the path and
// the query of that has to be as it was: an [Error] says what is not.
func (r *Redirects) Target(from *url.URL, location string, status int) (*url.URL, error) {
	to, _, err := r.TargetIn(from, location, status, nil)
	return to, err
}

// TargetIn is Target for a store that names hosts of its own, of which known says whether a host is one. Without trusted
// the request has to go there without credentials, since only the store says so.
func (r *Redirects) TargetIn(from *url.URL, location string, status int, known func(host string) bool) (to *url.URL, trusted bool, err error) {
	to, err = from.Parse(location)
	if err != nil {
		err = errors.New("that is no address of a host") // err has all of it, a signature included
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
		return errors.New("that is no address of a host")
	case to.User != nil:
		return errors.New("keys do not belong in an address")
	case to.Scheme != r.scheme:
		return fmt.Errorf("warp does not change from %s to %s for that", r.scheme, OneLine(to.Scheme))
	}
	return checkHost(to.Host)
}

// location is an address without what is not sent.
func location(u *url.URL) string {
	return u.Scheme + "://" + strings.ToLower(u.Host) + u.EscapedPath() + "?" + u.RawQuery
}

// shownLocation is a location without its query, which may carry a signature, and without keys.
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

// owns reports whether a name lies in the store's own domain, and not below another one in it in which strangers have names.
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

// plainName is the form of a name, or of an address, in which equal ones are equal.
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

// ownDomain is the domain in which a host's neighbours are its own: the one above its name, unless strangers can have
// names there too, as in co.uk. Then it is the name itself. Addresses and names without a dot have none.
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

// isPublic says whether strangers have names right below a domain.
func isPublic(domain string) bool {
	_, err := publicsuffix.EffectiveTLDPlusOne(domain)
	return err != nil
}

// RedirectedAgain is the error of a request that was redirected to an address, and from there to the next location.
// Redirects are followed once.
func RedirectedAgain(at *url.URL, location string, status int) *Error {
	host := location
	if next, err := at.Parse(location); err == nil {
		host = next.Scheme + "://" + next.Host
	}
	return Errorf(CodeRedirect, status, "the store redirects this request in circles: %s://%s sends it on to %s", at.Scheme, at.Host, OneLine(host))
}
