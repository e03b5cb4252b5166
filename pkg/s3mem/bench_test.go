package s3mem

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"warp/internal/check"
)

// rawClient sends one request after another on one connection, at little more than the cost of the
// socket.
type rawClient struct {
	conn net.Conn
	br   *bufio.Reader
	buf  []byte
}

func dial(b testing.TB, addr string) *rawClient {
	b.Helper()
	c, err := net.Dial("tcp", addr)
	check.OK(b, err)
	b.Cleanup(func() { c.Close() })
	return &rawClient{conn: c, br: bufio.NewReaderSize(c, 64<<10)}
}

// do returns the status of the answer and drops its body.
func (c *rawClient) do(method, target string, body []byte) (status int, err error) {
	c.buf = fmt.Appendf(c.buf[:0], "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nContent-Type: application/octet-stream\r\n\r\n",
		method, target, len(body))
	c.buf = append(c.buf, body...)
	if _, err := c.conn.Write(c.buf); err != nil {
		return 0, err
	}
	line, err := c.br.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	status, _ = strconv.Atoi(string(line[9:12]))
	length := 0
	for {
		line, err := c.br.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(v)))
		}
	}
	if method == http.MethodHead {
		return status, nil
	}
	_, err = io.CopyN(io.Discard, c.br, int64(length))
	return status, err
}

// benchmarkStore runs requests on eight connections.
func benchmarkStore(b *testing.B, addr, method string, size int) {
	dial(b, addr).do(http.MethodPut, "/bkt", nil)
	body := make([]byte, size)
	for i := range 1000 {
		if status, err := dial(b, addr).do(http.MethodPut, "/bkt/"+strconv.Itoa(i), body); status != 200 || err != nil {
			b.Fatal(status, err)
		}
	}
	if method != http.MethodPut {
		body = nil
	}
	var n atomic.Int64
	b.SetBytes(int64(size))
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		c := dial(b, addr)
		for pb.Next() {
			status, err := c.do(method, "/bkt/"+strconv.FormatInt(n.Add(1)%1000, 10), body)
			if status != 200 || err != nil {
				b.Error(status, err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

func BenchmarkStores(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodHead} {
			b.Run(fmt.Sprintf("embedded/%s/%d", method, size), func(b *testing.B) {
				e, err := Start(EmbeddedOptions{MemoryLimit: 2 << 30})
				check.OK(b, err)
				defer e.Close()
				benchmarkStore(b, e.Addr(), method, size)
			})
			b.Run(fmt.Sprintf("null/%s/%d", method, size), func(b *testing.B) {
				benchmarkStore(b, startNull(b, NullOptions{Size: int64(size)}).Addr(), method, size)
			})
		}
	}
}

// The limit applies to the process: full of small or large objects, and overwritten for a while,
// its resident memory stays near the limit.
func TestMeasuredResidentMemory(t *testing.T) {
	limit := int64(128 << 20)
	if s := os.Getenv("WARP_TEST_LIMIT_MIB"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		check.OK(t, err)
		limit = n << 20
	} else if testing.Short() || raceDetector() {
		t.Skip("takes seconds, and means nothing under the race detector, where make test leaves it to a second run")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("needs Linux")
	}
	for _, size := range []int{1 << 10, 10_000, 10 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			before := resident(t)
			e, err := Start(EmbeddedOptions{MemoryLimit: limit})
			check.OK(t, err)
			c := dial(t, e.Addr())
			c.do(http.MethodPut, "/bkt", nil)
			body := make([]byte, size)
			key := func(i int) string { return fmt.Sprintf("/bkt/abcdefgh/%02d.some-random-name-%08d.rnd", i%8, i) }
			n := 0
			for ; ; n++ {
				status, err := c.do(http.MethodPut, key(n), body)
				check.OK(t, err)
				if status != http.StatusOK {
					break
				}
			}
			full := resident(t)
			c.do(http.MethodDelete, key(0), nil) // overwriting needs room for one more
			for i := range min(n, 20_000) {
				c.do(http.MethodPut, key(1+i%(n-1)), body)
			}
			after := resident(t)
			t.Logf("%d objects of %d bytes, %.0f%% of the limit as payload; resident before %d MiB, full %d MiB, overwritten %d MiB",
				n, size, 100*float64(n)*float64(size)/float64(limit), before>>20, full>>20, after>>20)
			e.Close()
			if got, want := float64(max(full, after)-before), 1.3*float64(limit)+64<<20; got > want {
				t.Errorf("resident memory of %.0f MiB, want at most %.0f", got/(1<<20), want/(1<<20))
			}
			debug.FreeOSMemory()
		})
	}
}

func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	check.OK(t, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	check.OK(t, err)
	return kib << 10
}
