package bench

import (
	"bytes"
	"context"
	"net"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"warp/pkg/bench/recording"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// silentStore answers every request with the same object and makes no garbage,
// so that what is counted is the client's.
func silentStore(t testing.TB) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveSilently(c)
		}
	}()
	return l.Addr().String()
}

func serveSilently(c net.Conn) {
	defer c.Close()
	const head = "HTTP/1.1 200 OK\r\nServer: none\r\nConnection: keep-alive\r\nETag: \"0123456789abcdef0123456789abcdef\"\r\n" +
		"Last-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\nContent-Type: application/octet-stream\r\nContent-Length: "
	bare, whole := []byte(head+"0\r\n\r\n"), []byte(head+"1024\r\n\r\n"+string(make([]byte, 1024)))
	in, have := make([]byte, 64<<10), 0
	for {
		n, err := c.Read(in[have:])
		if err != nil {
			return
		}
		have += n
		end := bytes.Index(in[:have], []byte("\r\n\r\n"))
		if end < 0 {
			continue
		}
		if at := bytes.Index(in[:end], []byte("Content-Length: ")); at >= 0 {
			digits, _, _ := bytes.Cut(in[at+len("Content-Length: "):], []byte("\r"))
			length, _ := strconv.Atoi(string(digits))
			if have < end+4+length {
				continue
			}
		}
		out := bare
		switch in[0] {
		case 'G':
			out = whole
		case 'H':
			out = whole[:len(whole)-1024]
		}
		have = 0
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

type nowhere struct{}

func (nowhere) Write([]oplog.Record) error { return nil }
func (nowhere) Flush() error               { return nil }

// testWorker is a worker that measures against a store, with all that belongs
// to a run.
func testWorker(t testing.TB, addr string) *Worker {
	client, err := engines.New(store.Config{
		Hosts: []store.Address{{Name: addr}}, Region: "us-east-1", Concurrency: 1, Engine: "lean",
		Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{RunID: "run", ClientID: "client"}
	run := newRun(context.Background(), o, client, newTracing(o), nil)
	run.record([]recording.Sink{nowhere{}})
	t.Cleanup(func() { run.records.Close(); run.cancel() })
	env := &Env{Client: client, Bucket: "bucket", Names: generator.NewNames("warp-1/", 1, generator.Layout{})}
	return &Worker{Env: env, run: run, Rand: generator.Rand(1, "worker", 0), body: payload.NewReader(), check: verify.New(verify.ETag, payload), queue: run.records.NewQueue(0)}
}

// steps are the requests that must not make garbage.
func steps(t testing.TB, w *Worker) map[string]func() {
	ctx := w.run.requests
	obj := &store.Object{Ref: store.Ref{Bucket: "bucket", Key: "key"}, Size: 1024, ETag: "0123456789abcdef0123456789abcdef"}
	get, stat := &Get{}, &Stat{}
	get.found, stat.found = []store.Object{*obj}, []store.Object{*obj}
	get.divide(w.Env)
	stat.divide(w.Env)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	made := &Get{}
	key := w.nextKey()
	made.names, made.buckets, made.made = w.Env.Names, []string{"bucket"}, []entry{newEntry(w.Env.Names, &store.Object{Ref: store.Ref{Key: key}, Size: 1024, ETag: obj.ETag}, "")}
	made.divide(w.Env)
	ranged := &Get{Range: true}
	ranged.found = []store.Object{{Ref: obj.Ref, Size: 1024}}
	ranged.RangeSize = 1024
	ranged.divide(w.Env)
	// What the store sends is all zeros, and so is this payload.
	zeros, err := generator.NewPayload(generator.PayloadOptions{File: make([]byte, 1)})
	check(err)
	plain, content := w.check, verify.New(verify.Content, zeros)
	return map[string]func(){
		"GET":                      func() { check(get.Do(ctx, w)) },
		"GET of a prepared object": func() { check(made.Do(ctx, w)) },
		"GET with its content": func() {
			w.check = content
			check(get.Do(ctx, w))
			w.check = plain
		},
		"range": func() { check(ranged.Do(ctx, w)) },
		"STAT":  func() { check(stat.Do(ctx, w)) },
		"PUT": func() {
			_, err := w.upload(ctx, w.nextKey(), 1024)
			check(err)
		},
	}
}

func TestMeasuredRequestsMakeNoGarbage(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector makes garbage of its own; make test runs this again without it")
	}
	w := testWorker(t, silentStore(t))
	for name, step := range steps(t, w) {
		t.Run(name, func(t *testing.T) {
			for range 200 { // buffers grow, chunks of the queue come into use
				step()
			}
			if n := testing.AllocsPerRun(3000, step); n > 0 {
				t.Errorf("%v allocations per request", n)
			}
		})
	}
}

// What a request costs client and store together, in one process.
func BenchmarkRequest(b *testing.B) {
	w := testWorker(b, silentStore(b))
	for name, step := range steps(b, w) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			m := hostload.NewMeter(b.Context(), nil, func() int64 { return 0 })
			m.Start()
			for b.Loop() {
				step()
			}
			b.ReportMetric(1e6*m.Stop().CPUSeconds/float64(b.N), "cpu-µs/op")
		})
	}
}
