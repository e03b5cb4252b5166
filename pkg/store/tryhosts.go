package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A DeadHost is a host that did not answer, and the reason.
type DeadHost struct {
	Endpoint string
	Err      error
}

const (
	hostTries      = 2                // before a host counts as dead
	hostTryTimeout = 10 * time.Second // for all of them
	hostsAtOnce    = 64
)

// TryHosts asks each host for bucket and returns the hosts that did not answer. Any answer will do.
func (c *Client) TryHosts(ctx context.Context, bucket string) []DeadHost {
	failed := make([]error, len(c.hosts))
	slots := make(chan struct{}, hostsAtOnce)
	var wg sync.WaitGroup
	for i, h := range c.hosts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			failed[i] = h.try(ctx, bucket)
		})
	}
	wg.Wait()
	var dead []DeadHost
	for i, err := range failed {
		if err != nil {
			dead = append(dead, DeadHost{c.hosts[i].Endpoint, err})
		}
	}
	return dead
}

// try returns why h does not answer, or nil if it does.
func (h *Host) try(ctx context.Context, bucket string) (err error) {
	ctx, cancel := WithLimit(ctx, hostTryTimeout)
	defer cancel()
	for range hostTries {
		_, err = h.admin.BucketExists(ctx, bucket)
		var said *Error
		if err = LimitError(ctx, err, 0); !errors.As(err, &said) || said.Status != 0 {
			return nil
		}
		if IsConnection(err) || ctx.Err() != nil {
			break
		}
	}
	return err
}

// DeadHostsError returns an error that names the hosts that do not answer.
func DeadHostsError(dead []DeadHost, hosts int) error {
	first := dead[0]
	if len(dead) == 1 {
		return fmt.Errorf("host %s of %d does not answer: %w", first.Endpoint, hosts, first.Err)
	}
	return fmt.Errorf("%d of %d hosts do not answer; the first: %s (%w)", len(dead), hosts, first.Endpoint, first.Err)
}
