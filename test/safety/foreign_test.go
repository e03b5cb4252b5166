package safety

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// everyOperation returns every benchmark with the options that affect names, what is read and what
// is removed.
func everyOperation(s *teststore.Store, versioned bool) [][]string {
	runs := [][]string{
		small("get"),
		small("get", "--prefix=photos"),
		small("get", "--prefix=photos/", "--range"),
		small("get", "--list-existing", "--objects=0"),
		small("get", "--list-existing", "--prefix=pho", "--objects=3"),
		small("put", "--noprefix"),
		small("put", "--stress", "--prefix=a b/ü%"),
		small("stat", "--noprefix", "--stress"),
		small("stat", "--list-existing", "--objects=0"),
		small("stat", "--list-existing", "--list-flat", "--objects=0"),
		small("delete", "--batch=7", "--prefix=versions"),
		small("list", "--max-keys=10", "--prefix=warp-notes"),
		small("list", "--noprefix"),
		small("mixed"),
		small("mixed", "--noprefix", "--prefix=photos/2023", "--put-distrib=50", "--delete-distrib=40"),
	}
	runs = append(runs, rarerOperations(s, versioned)...)
	if versioned {
		runs = append(runs,
			small("get", "--versions=3"),
			small("stat", "--versions=2", "--noprefix"),
			small("list", "--versions=2"),
			small("get", "--list-existing", "--versions=2", "--objects=0", "--prefix=versions"),
		)
	}
	return runs
}

// rarerOperations are operations that only some stores support. Their names are made in other ways:
// parts, copies, members of archives, and a fixed name.
func rarerOperations(s *teststore.Store, versioned bool) [][]string {
	own := func(args ...string) []string {
		return append(args, "--concurrent=2", "--duration=1s", "--lease=10s")
	}
	runs := [][]string{
		own("put", "--post", "--obj.size=1KiB", "--prefix=photos"),
		own("multipart", "--parts=2", "--part.size=5MiB", "--prefix=photos"),
		own("multipart-put", "--parts=3", "--part.size=5MiB", "--part.concurrent=2"),
		own("copy", "--objects=8", "--obj.size=1KiB", "--noprefix"),
		own("copy", "--objects=1", "--obj.size=11MiB", "--part.size=5MiB"),
	}
	if s.Can.Tags {
		runs = append(runs, small("tagging", "--prefix=photos/"))
	}
	if s.Can.Zip {
		runs = append(runs, own("zip", "--files=50", "--obj.size=1KiB", "--noprefix"))
	}
	if s.Can.Snowball {
		runs = append(runs,
			own("snowball", "--objs.per=9", "--obj.size=1KiB", "--prefix=photos"),
			own("snowball", "--objs.per=9", "--obj.size=1KiB", "--compress", "--noprefix"))
	}
	if s.Can.Fanout {
		runs = append(runs, own("fanout", "--copies=7", "--obj.size=1KiB"))
	}
	if versioned {
		runs = append(runs, small("versioned", "--delete-distrib=0"), small("versioned", "--delete-distrib=0", "--noprefix"))
	}
	return runs
}

// inPairs combines runs in pairs. Runs that read everything in the bucket run alone, because
// another run's objects disappear at its clean-up.
func inPairs(runs [][]string) [][][]string {
	var alone, beside [][]string
	for _, args := range runs {
		if slices.Contains(args, "--list-existing") && !strings.Contains(strings.Join(args, " "), "--prefix") {
			alone = append(alone, args)
		} else {
			beside = append(beside, args)
		}
	}
	return slices.Concat(slices.Collect(slices.Chunk(alone, 1)), slices.Collect(slices.Chunk(beside, 2)))
}

func TestEveryOperationLeavesForeignObjectsAsTheyWere(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		for _, versioned := range []bool{false, true} {
			if versioned && !s.Can.Versioning {
				continue
			}
			t.Run(fmt.Sprintf("versioned=%v", versioned), func(t *testing.T) {
				b := made(t, s, versioned)
				if s.Name == teststore.Garage {
					b.unfinished("photos/unfinished")
				}
				before := b.fill()
				// Two at a time: they share the bucket, and each must leave it unchanged.
				for _, together := range inPairs(everyOperation(s, versioned)) {
					var running []*process
					for _, args := range together {
						running = append(running, b.warp(args...))
					}
					for _, p := range running {
						p.want(0)
						if strings.Contains(p.stderr(), "without cleaning up") {
							t.Errorf("%s", p)
						}
					}
				}
				b.same(before)
			})
		}
	})
}

// More objects than fit into a page of a listing or a delete request.
func TestThousandsOfObjectsAreRemoved(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, s.Name == teststore.MinIO)
		before := b.fill()
		p := b.warp("get", "--objects=2300", "--obj.size=1B", "--concurrent=16", "--duration=1s").want(0)
		if !strings.Contains(p.stderr(), "Cleaning up: 2300 objects") {
			t.Errorf("not 2300 objects: %s", p)
		}
		b.same(before)
	})
}

func TestUploadOverForeignObjectsIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, s.Can.Versioning)
		before := b.fill()
		for _, args := range [][]string{
			{"put"}, {"get"}, {"mixed", "--noprefix"}, {"delete"}, {"list", "--keep-data"}, {"stat", "--noclear"},
			{"put", "--prefix=photos"}, {"put", "--keep-data"}, // a second time, because the rejected run proves nothing
		} {
			b.warp(small(args[0], append(args[1:], fmt.Sprintf("--seed=%d", takenSeed))...)...).want(1).
				says("belongs to no run of warp", "--seed", "--prefix")
		}
		if s.Can.Versioning {
			b.warp(small("put", fmt.Sprintf("--seed=%d", hiddenSeed))...).want(1).says("belongs to no run of warp")
		}
		b.same(before)
	})
}

func TestWhatDeletesForeignObjectsDemandsTheirBucketsName(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, s.Can.Versioning)
		before := b.fill()
		for _, args := range [][]string{
			small("put", "--clear-bucket"),
			small("delete", "--list-existing", "--objects=0"),
		} {
			for _, destroy := range []string{"", "other-bucket", b.name + "x", strings.ToUpper(b.name)} {
				line := args
				if destroy != "" {
					line = append(slices.Clone(args), "--destroy="+destroy)
				}
				b.warp(line...).want(2).says("--destroy=" + b.name)
			}
		}
		b.warp(small("put", "--destroy=other-bucket")...).want(2)
		b.warp(small("get", "--list-existing", "--clear-bucket", "--destroy="+b.name)...).want(2)
		b.same(before)

		p := b.warp(small("delete", "--list-existing", "--objects=2", "--batch=1", "--prefix=photos/2023", "--destroy="+b.name)...).want(0)
		gone := b.core.Client
		if _, err := gone.StatObject(t.Context(), b.name, "photos/2023/3.jpg", statOptions); err == nil {
			t.Errorf("it deleted nothing: %s", p)
		}
		if _, err := gone.StatObject(t.Context(), b.name, "photos/1.jpg", statOptions); err != nil {
			t.Errorf("it deleted what is not below --prefix: %v", err)
		}
		b.warp(small("put", "--clear-bucket", "--destroy="+b.name)...).want(0)
		b.same(map[string]item{})
	})
}
