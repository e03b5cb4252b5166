package engines

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/internal/standin"
	"warp/pkg/s3mem"
	"warp/pkg/store"
)

// gatewayConfig returns a configuration for a store that checks signatures.
func gatewayConfig(engine string, g *standin.Gateway) store.Config {
	hosts, _, err := store.ParseEndpoints(g.URL)
	if err != nil {
		panic(err)
	}
	return store.Config{
		Hosts: store.Addresses(hosts), Region: "eu-x-1", Concurrency: 2, Engine: engine,
		Credentials: store.Keys{AccessKey: g.Key.Access, SecretKey: g.Key.Secret, SessionToken: "token"},
	}
}

func embeddedStore(t *testing.T) *s3mem.Embedded {
	t.Helper()
	s, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 256 << 20})
	check.OK(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func noProblems(t *testing.T, g *standin.Gateway) []standin.Seen {
	t.Helper()
	seen, problems := g.Seen()
	for _, p := range problems {
		t.Error(p)
	}
	return seen
}

// All requests of both engines and of bookkeeping work below a path, and with every request
// redirected. Each request is signed for its destination.
func TestGateway(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		for _, option := range []string{"", "unsigned", "checksum", "md5"} {
			for _, redirects := range []bool{false, true} {
				name := strings.TrimSpace(engine + " " + option)
				if redirects {
					name += " redirected"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					mem := embeddedStore(t)
					front, target := standin.StartGateway(t, "/s3/x", mem), standin.StartGateway(t, "/s3/x", mem)
					if redirects {
						front.Redirect(standin.To("http://" + target.Addr))
					}
					cfg := gatewayConfig(engine, front)
					switch option {
					case "unsigned":
						cfg.UnsignedPayload = true
					case "checksum":
						cfg.Checksum = store.ChecksumCRC32C
					case "md5":
						cfg.MD5 = true
					}
					c, err := New(cfg)
					check.OK(t, err)
					defer c.Close()
					check.OK(t, c.MakeBucket(t.Context(), "enginetest", false))
					h := c.Acquire()
					if want := front.URL; h.Endpoint != want {
						t.Errorf("the endpoint is %s, want %s", h.Endpoint, want)
					}
					enginetest.Run(t, h.Engine)
					all := bytes.Repeat([]byte("0123456789abcdef"), 12<<20/16)
					ref := store.Ref{Bucket: "enginetest", Key: "in parts"}
					cfg.PartSize = 5 << 20
					parts, err := New(cfg)
					check.OK(t, err)
					defer parts.Close()
					_, err = parts.Acquire().Put(t.Context(), store.Put{Ref: ref, Body: bytes.NewReader(all), Size: int64(len(all))}, store.NewTrace(time.Now()))
					check.OK(t, err)
					var got bytes.Buffer
					_, err = h.Get(t.Context(), store.Get{Ref: ref, Into: &got}, store.NewTrace(time.Now()))
					check.OK(t, err)
					if !bytes.Equal(got.Bytes(), all) {
						t.Error("what was uploaded in parts is something else")
					}
					check.OK(t, c.Delete(t.Context(), []store.Ref{ref, {Bucket: "enginetest", Key: "objects/x"}}))
					seen := noProblems(t, front)
					if there := noProblems(t, target); redirects != (len(there) > 0) || redirects && len(there) != len(seen) {
						t.Errorf("%d requests, and %d where they were redirected", len(seen), len(there))
					}
				})
			}
		}
	}
}

// A request includes the time of its redirect, and the row counts both requests. The first byte
// belongs to the final answer.
func TestRedirectTrace(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			const hop = 150 * time.Millisecond
			mem := embeddedStore(t)
			front, target := standin.StartGateway(t, "", mem), standin.StartGateway(t, "", mem)
			c, err := New(gatewayConfig(engine, front))
			check.OK(t, err)
			defer c.Close()
			check.OK(t, c.MakeBucket(t.Context(), "bucket", false))
			to := standin.To("http://" + target.Addr)
			target.Redirect(func(*http.Request) string { time.Sleep(hop); return "" })
			front.Redirect(func(r *http.Request) string { time.Sleep(hop); return to(r) })
			ref := store.Ref{Bucket: "bucket", Key: "key"}
			for what, do := range map[string]func(h *store.Host, tr *store.Trace) error{
				"put": func(h *store.Host, tr *store.Trace) error {
					_, err := h.Put(t.Context(), store.Put{Ref: ref, Body: bytes.NewReader(make([]byte, 5000)), Size: 5000}, tr)
					return err
				},
				"list": func(h *store.Host, tr *store.Trace) error {
					return h.List(t.Context(), store.List{Bucket: "bucket"}, func(store.Object) bool { return true }, tr)
				},
			} {
				tr := store.NewTrace(time.Now())
				check.OK(t, do(c.Acquire(), tr))
				if tr.Requests() != 2 || tr.Status() != 200 || tr.FirstByte() < 2*hop || tr.LastByte() > 0 && tr.LastByte() < hop {
					t.Errorf("%s: %d requests, status %d, last byte after %v, first byte after %v", what, tr.Requests(), tr.Status(), tr.LastByte(), tr.FirstByte())
				}
			}
		})
	}
}

// A request that is redirected to a dead host has no answer: it can be repeated, and its row has no
// status.
func TestRedirectWithoutAnswer(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			front := standin.StartGateway(t, "", embeddedStore(t))
			dead := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
			defer dead.Close()
			c, err := New(gatewayConfig(engine, front))
			check.OK(t, err)
			defer c.Close()
			check.OK(t, c.MakeBucket(t.Context(), "bucket", false))
			front.Redirect(standin.To(dead.URL))
			tr := store.NewTrace(time.Now())
			_, err = c.Acquire().Put(t.Context(), store.Put{Ref: store.Ref{Bucket: "bucket", Key: "key"}, Body: strings.NewReader("x"), Size: 1}, tr)
			if err == nil || !store.Repeatable(err) || tr.Status() != 0 {
				t.Errorf("status %d, %v; want no status, and an error that is repeatable", tr.Status(), err)
			}
		})
	}
}

// Neither requests nor credentials go to a host outside the store's own domain, however the store
// redirects there. Circular redirects end.
func TestRedirectAway(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			mem := embeddedStore(t)
			front, foreign := standin.StartGateway(t, "", mem), standin.StartGateway(t, "", mem)
			_, port, _ := strings.Cut(foreign.Addr, ":")
			cfg := gatewayConfig(engine, front)
			c, err := New(cfg)
			check.OK(t, err)
			defer c.Close()
			check.OK(t, c.MakeBucket(t.Context(), "bucket", false))
			for to, want := range map[string]string{
				"http://localhost:" + port + "/bucket/key":              "outside of its own domain",
				"http://127.0.0.2:" + port + "/bucket/key":              "outside of its own domain",
				"http://[::ffff:127.0.0.2]:" + port + "/bucket/key":     "outside of its own domain",
				"//localhost:" + port + "/bucket/key":                   "outside of its own domain",
				"http://127.0.0.1@localhost:" + port + "/bucket/key":    "keys do not belong in an address",
				"http://user:secret@127.0.0.1:" + port + "/bucket/key":  "keys do not belong in an address",
				"http://127.0.0.1.nip.test:" + port + "/bucket/key":     "outside of its own domain",
				"https://127.0.0.1:" + port + "/bucket/key":             "does not change from http to https",
				"http://127.0.0.1:" + port + "%2f@localhost/bucket/key": "keys do not belong in an address",
				"http://" + front.Addr + "/other/way":                   "in circles",
				"/bucket/key":                                           "that is where it was sent",
				"http://127.0.0.1:" + port + "/bucket/key?circle":       "in circles",
			} {
				front.Redirect(func(*http.Request) string { return to })
				foreign.Redirect(func(*http.Request) string { return "http://" + front.Addr + "/bucket/key" })
				before, _ := foreign.Seen()
				for what, do := range map[string]func(ctx context.Context, h *store.Host) error{
					"get": func(ctx context.Context, h *store.Host) error {
						_, err := h.Get(ctx, store.Get{Ref: store.Ref{Bucket: "bucket", Key: "key"}}, store.NewTrace(time.Now()))
						return err
					},
					"put": func(ctx context.Context, h *store.Host) error {
						put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: "key"}, Body: bytes.NewReader([]byte("text")), Size: 4}
						_, err := h.Put(ctx, put, store.NewTrace(time.Now()))
						return err
					},
				} {
					err := do(t.Context(), c.Acquire())
					if store.CodeOf(err) != store.CodeRedirect || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
						t.Errorf("%s to %s: %v, want %q", what, to, err, want)
					}
				}
				if after, _ := foreign.Seen(); !strings.Contains(to, "circle") && len(after) != len(before) {
					t.Errorf("%s: the foreign host got %v", to, after[len(before):])
				}
			}
			front.Redirect(standin.To("http://localhost:" + port))
			foreign.Redirect(nil)
			cfg.RedirectHosts = []string{"localhost"}
			allowed, err := New(cfg)
			check.OK(t, err)
			defer allowed.Close()
			put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: "key"}, Body: bytes.NewReader([]byte("text")), Size: 4}
			_, err = allowed.Acquire().Put(t.Context(), put, store.NewTrace(time.Now()))
			check.OK(t, err)
		})
	}
}
