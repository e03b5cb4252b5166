package s3

import (
	"context"
	"sync"
	"time"

	"warp/pkg/store"
)

// A Session contains temporary keys for the requests to one directory bucket.
type Session struct {
	Keys  store.Keys
	Lasts time.Duration
}

// Sessions are the sessions of one user, for all hosts and buckets. The first request to a bucket
// waits for its session. From then on, the session is renewed in the background when half of its
// time is over, so that no request waits.
type Sessions struct {
	mu      sync.Mutex
	create  []func(ctx context.Context, bucket string) (Session, error) // functions to create a session, one for each host
	buckets map[string]*bucketSession
	done    chan struct{}
	over    bool
}

// NewSessions returns sessions that are renewed until Close.
func NewSessions() *Sessions {
	return &Sessions{buckets: make(map[string]*bucketSession), done: make(chan struct{})}
}

// A bucketSession is kept valid by one goroutine.
type bucketSession struct {
	first   chan struct{} // closed when there is a session or an error
	doubted chan struct{} // contains an element when the store has rejected it

	// The mutex of Sessions guards the following fields.
	keys  store.Keys
	ends  time.Time
	err   error // error of the latest attempt
	known bool  // there has been a session
}

// Ask adds a function that creates sessions through one of the hosts.
func (s *Sessions) Ask(create func(ctx context.Context, bucket string) (Session, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.create = append(s.create, create)
}

// Keys returns the keys of the session of bucket. It waits only for the first session.
func (s *Sessions) Keys(ctx context.Context, bucket string) (store.Keys, error) {
	s.mu.Lock()
	b := s.buckets[bucket]
	if b == nil {
		b = &bucketSession{first: make(chan struct{}), doubted: make(chan struct{}, 1)}
		s.buckets[bucket] = b
		go s.keep(context.WithoutCancel(ctx), bucket, b)
	}
	s.mu.Unlock()
	select {
	case <-b.first:
	case <-ctx.Done():
		return store.Keys{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.known && time.Now().Before(b.ends) {
		return b.keys, nil
	}
	if b.err != nil {
		return store.Keys{}, b.err
	}
	return store.Keys{}, store.Errorf("ExpiredToken", 0, "the session of bucket %s has ended, and there is no other one yet", bucket)
}

// Doubt reports that the store has rejected a request of the session of bucket, which may have
// ended early.
func (s *Sessions) Doubt(bucket string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[bucket]; b != nil {
		select {
		case b.doubted <- struct{}{}:
		default:
		}
	}
}

// Close stops the renewal. Existing sessions stay valid until they expire.
func (s *Sessions) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		close(s.done)
	}
}

// The min time between two renewals, and the fraction of a session's time after which it is
// renewed.
const (
	minRenewal   = time.Second
	renewalShare = 2
)

// keep creates the session of a bucket, and renews it until the first attempt fails or the sessions are closed.
func (s *Sessions) keep(ctx context.Context, bucket string, b *bucketSession) {
	for {
		began := time.Now()
		session, err := s.open(ctx, bucket)
		s.mu.Lock()
		if b.err = err; err == nil {
			b.keys, b.ends, b.known = session.Keys, began.Add(session.Lasts), true
		}
		select {
		case <-b.first:
		default:
			close(b.first)
		}
		if !b.known || s.over {
			if !b.known {
				delete(s.buckets, bucket) // the next request tries again
			}
			s.mu.Unlock()
			return
		}
		wait := minRenewal
		if err == nil {
			wait = max(session.Lasts/renewalShare, minRenewal/10)
		}
		s.mu.Unlock()
		if !b.waitForRenewal(s.done, wait) {
			return
		}
	}
}

// waitForRenewal waits until the session has to be renewed. It returns false if nobody needs it any
// more.
func (b *bucketSession) waitForRenewal(done <-chan struct{}, wait time.Duration) bool {
	renew := time.NewTimer(wait)
	defer renew.Stop()
	select {
	case <-done:
		return false
	case <-renew.C:
		return true
	case <-b.doubted:
	}
	select { // many requests report the same failure
	case <-done:
		return false
	case <-time.After(min(minRenewal, wait)):
		return true
	}
}

// open tries to create a session through one host after another, until one accepts the connection.
func (s *Sessions) open(ctx context.Context, bucket string) (session Session, err error) {
	s.mu.Lock()
	create := s.create
	s.mu.Unlock()
	err = store.Errorf("RequestFailed", 0, "there is no host to ask for a session")
	for _, ask := range create {
		if session, err = ask(ctx, bucket); err == nil || !store.IsConnection(err) {
			break
		}
	}
	return session, err
}
