package teststore

import (
	"sync"
	"testing"
)

// A Pool contains stores that all tests of one package share, because starting one takes longer
// than most tests. A package declares one in its TestMain:
//
//	var stores teststore.Pool
//
//	func TestMain(m *testing.M) { os.Exit(stores.Run(m)) }
type Pool struct {
	mu     sync.Mutex
	stores map[string]*pooled
}

type pooled struct {
	once  sync.Once
	store *Store
	err   error
}

// Run runs the tests and then stops every store that they started.
func (p *Pool) Run(m *testing.M) int {
	code := m.Run()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stores {
		if s.store != nil {
			s.store.Close()
		}
	}
	return code
}

// Shared returns the pool's store of this name, and starts it at first use. Tests use separate
// buckets in it.
func (p *Pool) Shared(t testing.TB, name string) *Store {
	t.Helper()
	p.mu.Lock()
	if p.stores == nil {
		p.stores = map[string]*pooled{}
	}
	if p.stores[name] == nil {
		p.stores[name] = &pooled{}
	}
	s := p.stores[name]
	p.mu.Unlock()
	s.once.Do(func() { s.store, s.err = Open(testContext(t), name, Options{}) })
	requireStore(t, name, s.err)
	return s.store
}

// Each runs a test against every store, as a subtest named after the store.
func (p *Pool) Each(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) { test(t, p.Shared(t, name)) })
	}
}
