package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// ServerProfiles returns the kinds of profiles that MinIO supports.
func ServerProfiles() []string {
	return []string{"cpu", "cpuio", "mem", "block", "mutex", "threads", "trace"}
}

// ParseServerProfiles parses the value of --serverprof: kinds of profiles, separated by commas.
func ParseServerProfiles(spec string) (kinds []string, err error) {
	for k := range ListItems(spec) {
		switch {
		case !slices.Contains(ServerProfiles(), k):
			return nil, fmt.Errorf("%q is not one of %s", k, strings.Join(ServerProfiles(), ", "))
		case slices.Contains(kinds, k):
			return nil, fmt.Errorf("%s is named twice", k)
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// profilesTimeout is long because a store may have to collect from many nodes.
const profilesTimeout = 2 * time.Minute

// StartServerProfiles starts profiles on all nodes of a MinIO cluster, which needs administrator
// permissions. It fails for any other store.
func (c *Client) StartServerProfiles(ctx context.Context, kinds []string) error {
	ctx, cancel := context.WithTimeout(ctx, profilesTimeout)
	defer cancel()
	return c.profile(ctx, func(p Profiler) error { return p.StartProfiles(ctx, kinds) })
}

// ServerProfilesTo stops the profiles and writes them to w as a ZIP.
func (c *Client) ServerProfilesTo(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, profilesTimeout)
	defer cancel()
	var zip io.ReadCloser
	err := c.profile(ctx, func(p Profiler) (err error) {
		zip, err = p.Profiles(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer zip.Close()
	_, err = io.Copy(w, zip)
	return AsError(err, 0)
}

var errNoProfiles = errors.New("this store does not profile itself: it has no administration interface of MinIO")

// profile calls do with the first host that accepts a connection.
func (c *Client) profile(ctx context.Context, do func(Profiler) error) error {
	var failed error
	err := c.tryHosts(ctx, 0, func(h *Host) error {
		p, ok := h.admin.(Profiler)
		if !ok {
			failed = errNoProfiles
			return nil
		}
		err := do(p)
		var refused *Error
		switch {
		case errors.Is(err, ErrUnsupported):
			failed = errNoProfiles
		case err != nil && !errors.As(err, &refused):
			failed = err
		default:
			return err
		}
		return nil
	})
	return cmp.Or(failed, err)
}
