package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

// TestOneBadHost checks that a bad host has its own errors, and that the other host works.
func TestOneBadHost(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"weighed", "roundrobin"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, teststore.Embedded))
			bad := teststore.FreeAddress(t)
			args := get("--host="+b.proxy.Endpoint+","+bad, "--host-select="+how, "--allow-dead-hosts", "--objects=4")
			o, log := b.runUntil(t, args, func(h history) bool {
				failed := errorsIn(h.of("GET"))
				return 0 < failed && failed < len(h.of("GET"))
			})
			o.want(t, 3)
			o.sameAsAnalyze(t, log, "--json")
			rows := readLog(t, log).of("GET")
			op := operation(t, o.report(t), "GET")
			if len(op.Hosts) != 2 {
				t.Fatalf("hosts: %+v", op.Hosts)
			}
			for _, h := range op.Hosts {
				isBad := h.Name == "http://"+bad
				if h.Requests == 0 || isBad != (h.Errors == h.Requests) || !isBad && h.Errors > 0 || isBad && (h.Bytes > 0 || h.ObjectsPerS > 0) {
					t.Errorf("host %s has %d requests with %d errors, %d bytes", h.Name, h.Requests, h.Errors, h.Bytes)
				}
			}
			for _, r := range rows {
				if (r.Err != "") != (r.Endpoint == "http://"+bad) || r.Err != "" && (r.Code() != "ConnectionRefused" || r.Status != 0) {
					t.Fatalf("a row is %+v", r)
				}
			}
			if n := b.sent("GET"); n != len(rows)-errorsIn(rows) {
				t.Errorf("%d good rows, %d requests", len(rows)-errorsIn(rows), n)
			}
			b.clean(t)
		})
	}
}

// TestHostRange checks that a{1...2} names two hosts of one store, and that both are used.
func TestHostRange(t *testing.T) {
	t.Parallel()
	s := teststore.Start(t, teststore.MinIO, teststore.Options{Hosts: 2})
	b := newBed(t, s)
	hosts := strings.Join(s.Endpoints, ",")
	if r, ok := asRange(s.Endpoints); ok {
		hosts = r
	}
	file := filepath.Join(t.TempDir(), "hosts")
	check.OK(t, os.WriteFile(file, []byte(strings.Join(s.Endpoints, "\n")+"\n"), 0o600))
	for _, how := range []string{"weighed", "roundrobin"} {
		for _, hosts := range []string{hosts, "file:" + file} {
			o, log := b.run("mixed", "--host="+hosts, "--host-select="+how, "--objects=20", "--obj.size=4KiB", "--concurrent=4", "--duration=600ms")
			o.want(t, 0)
			o.sameAsAnalyze(t, log)
			per := map[string]int{}
			h := readLog(t, log)
			for _, r := range h.rows {
				per[r.Endpoint]++
			}
			highest, lowest := 0, len(h.rows)
			for _, e := range s.Endpoints {
				highest, lowest = max(highest, per["http://"+e]), min(lowest, per["http://"+e])
			}
			if len(per) != 2 || lowest == 0 || how == "roundrobin" && highest-lowest > 4 || lowest*3 < highest {
				t.Errorf("%s over %s: requests by host: %v", how, hosts, per)
			}
			b.clean(t)
		}
	}
}

// asRange writes two addresses as one range if their ports allow it.
func asRange(endpoints []string) (string, bool) {
	var a, b int
	if _, err := fmt.Sscanf(endpoints[0]+" "+endpoints[1], "127.0.0.1:%d 127.0.0.1:%d", &a, &b); err != nil || b != a+1 {
		return "", false
	}
	return fmt.Sprintf("127.0.0.1:{%d...%d}", a, b), true
}

// TestPortRange expands a range independent of the stores' ports: one of three hosts exists.
func TestPortRange(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.Embedded))
	_, port, _ := strings.Cut(b.proxy.Endpoint, ":")
	head, last := port[:len(port)-1], int(port[len(port)-1]-'0')
	o, log := b.run(get("--host=127.0.0.{1...2}:"+head+fmt.Sprintf("{%d...%d}", last, last), "--allow-dead-hosts", "--objects=4")...)
	if o.code != 3 {
		t.Fatalf("the second host should refuse: %s", o)
	}
	op := operation(t, o.report(t), "GET")
	var names []string
	for _, h := range op.Hosts {
		names = append(names, h.Name)
	}
	if want := fmt.Sprintf("http://127.0.0.1:%s http://127.0.0.2:%s", port, port); strings.Join(names, " ") != want {
		t.Errorf("hosts are %v in %s", names, log)
	}
	b.clean(t)
}

// TestNothingListens expects one line that suggests what to do.
func TestNothingListens(t *testing.T) {
	t.Parallel()
	for _, hosts := range []string{teststore.FreeAddress(t), teststore.FreeAddress(t) + "," + teststore.FreeAddress(t)} {
		for _, op := range []string{"get", "put", "stat", "delete", "list", "mixed"} {
			dir := t.TempDir()
			o := warp(op, "--host="+hosts, "--access-key=k", "--secret-key=s", "--benchdata="+dir+"/run").want(t, 1)
			first, _, _ := strings.Cut(hosts, ",")
			o.says(t, first, "--host=embedded")
			if o.out != "" {
				t.Errorf("on standard output: %q", o.out)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}
