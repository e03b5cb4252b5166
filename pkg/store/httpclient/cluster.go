package httpclient

import (
	"context"
	"strings"
	"sync"
	"time"
)

// A cluster contains the hosts that a store names as its own.
type cluster struct {
	mu    sync.Mutex
	hosts map[string]bool
	asked time.Time // when the store was last asked
}

// askPause is the min time between two requests for the store's hosts, however often it redirects.
const askPause = time.Second

// knows reports whether the store names a host as its own.
func (api *API) knows(ctx context.Context, host string) bool {
	c := &api.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hosts[host] || time.Since(c.asked) < askPause {
		return c.hosts[host]
	}
	hosts, err := api.Hosts(ctx)
	if err != nil {
		return false
	}
	c.hosts, c.asked = make(map[string]bool, len(hosts)), time.Now()
	for _, name := range hosts {
		c.hosts[strings.ToLower(name)] = true
	}
	return c.hosts[host]
}
