// Package minio sends requests through minio-go. It can do everything, and costs
// several times what a request costs.
package minio

import (
	"runtime"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
	"warp/pkg/store/nethttp"
	"warp/pkg/store/s3"
)

// New returns an engine for one host.
func New(cfg *store.Config, a store.Address, n *store.Counters) (*Engine, error) {
	return openEngine(cfg, a, answerCheck{}, cfg.StallTimeout(), n)
}

// libraryRetries makes minio-go never wait: it sleeps after a failed request
// even when it is not going to repeat it, and that sleep would be measured.
var libraryRetries sync.Once

func openEngine(cfg *store.Config, a store.Address, check answerCheck, answer time.Duration, n *store.Counters) (*Engine, error) {
	libraryRetries.Do(func() { minio.DefaultRetryUnit = 0 })
	transport, err := nethttp.NewTransport(cfg, a.Dial, answer, &n.Connections)
	if err != nil {
		return nil, err
	}
	traced := nethttp.Tracer{Next: transport, HTTP2: cfg.HTTP2, Check: checkPage}
	check.next = traced
	mc, err := minio.New(a.Name, &minio.Options{
		Creds:      cfg.Credentials,
		Secure:     cfg.TLS,
		Transport:  check,
		Region:     cfg.Region,
		MaxRetries: 1, // repeating is for the run to decide, and to count

		BucketLookup:    bucketLookup(cfg.Lookup),
		TrailingHeaders: cfg.Checksum != store.NoChecksum, // minio-go would send checksums of its own
	})
	if err != nil {
		return nil, err
	}
	mc.SetAppInfo("warp", cfg.AppVersion)
	sse, err := serverSide(&cfg.Encryption)
	if err != nil {
		return nil, err
	}
	return &Engine{
		core: minio.Core{Client: mc}, part: uint64(cfg.PartSize), unsigned: cfg.UnsignedPayload, counters: n,
		opts: cfg.Options, sse: sse, checksum: s3.ChecksumType(cfg.Checksum),
		transport: traced, agent: "warp/" + cfg.AppVersion + " (" + runtime.GOOS + "; " + runtime.GOARCH + ") form",
		closeIdle: transport.CloseIdleConnections,
	}, nil
}

// Close closes the connections that no request uses, and each other one when its request ends.
func (e *Engine) Close() { e.closeIdle() }
