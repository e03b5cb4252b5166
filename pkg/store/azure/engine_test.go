package azure

import (
	"testing"

	"warp/pkg/store"
)

// opened is what talks to a store.
type opened struct {
	engine store.Engine
	admin  store.Admin
}

func open(t *testing.T, open func(*store.Config) (store.Driver, error), cfg store.Config, a store.Address) *opened {
	t.Helper()
	cfg.AppVersion, cfg.Concurrency, cfg.Hosts = "1", 1, []store.Address{a}
	driver, err := open(&cfg)
	must(t, err)
	o := &opened{}
	o.engine, err = driver.Engine(&cfg, a, new(store.Counters))
	must(t, err)
	o.admin, err = driver.Admin(&cfg, a)
	must(t, err)
	t.Cleanup(func() { o.engine.Close(); o.admin.Close() })
	return o
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
