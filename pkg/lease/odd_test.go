package lease

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// warnings is a Progress that collects warnings.
type warnings struct {
	silent
	mu  sync.Mutex
	all []string
}

func (w *warnings) Warn(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

// answerQuery answers GET requests of the bucket that have a parameter.
func answerQuery(answers map[string]string) func(http.Handler, http.ResponseWriter, *http.Request) {
	return func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		for parameter, text := range answers {
			if r.Method != http.MethodGet || !r.URL.Query().Has(parameter) {
				continue
			}
			switch text {
			case notImplemented:
				w.WriteHeader(http.StatusNotImplemented)
			case accessDenied:
				w.WriteHeader(http.StatusForbidden)
			}
			_, _ = io.WriteString(w, text)
			return
		}
		backend.ServeHTTP(w, r)
	}
}

const (
	motoVersioning = `<GetBucketVersioningResponse xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`
	aListing       = `<ListBucketResult><Contents><Key>.warp/r.json</Key></Contents></ListBucketResult>`
	notImplemented = `<Error><Code>NotImplemented</Code></Error>`
	accessDenied   = `<Error><Code>AccessDenied</Code></Error>`
)

// Runs work on stores that do not say whether a bucket has versions, and warn once.
func TestUnknownVersioning(t *testing.T) {
	t.Parallel()
	const unknown = "does not say whether bucket bucket is versioned"
	tests := map[string]struct {
		answers map[string]string
		warning string
		refusal string // of a benchmark that needs versions
	}{
		"moto 5.2":            {map[string]string{"versioning": motoVersioning, "versions": notImplemented}, "does not say whether bucket bucket has versions: it lists none either", unknown},
		"S3Mock 3.12":         {map[string]string{"versioning": aListing, "versions": aListing}, "it lists none either", unknown},
		"empty":               {map[string]string{"versioning": ""}, "all versions that it lists", unknown},
		"no right to ask":     {map[string]string{"versioning": accessDenied}, "may not ask whether bucket bucket has versions: clean-up removes all versions that it lists", "AccessDenied"},
		"no right at all":     {map[string]string{"versioning": accessDenied, "versions": accessDenied}, "it lists none either", "AccessDenied"},
		"versions are listed": {map[string]string{"versioning": aListing}, "all versions that it lists", unknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answered := answerQuery(test.answers)
			c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
				if query := r.URL.Query(); query.Has("versions") && test.answers["versions"] == "" {
					listVersions(backend, w, r)
					return
				}
				answered(backend, w, r)
			})
			var warned warnings
			l := newLease(c, "r")
			l.progress = &warned
			check.OK(t, l.Acquire(t.Context()))
			put(t, l, 3)
			if err := l.enableVersioning(t.Context(), true); err == nil || !strings.Contains(err.Error(), test.refusal) {
				t.Errorf("a benchmark that needs versions: %v", err)
			}
			check.OK(t, l.Release(t.Context(), false))
			if l.objects.Load() != 3 || len(warned.all) != 1 || !strings.Contains(warned.all[0], test.warning) {
				t.Errorf("%d objects removed, with the warnings %q", l.objects.Load(), warned.all)
			}
			nothingIsLeft(t, c)
		})
	}
}

// listVersions answers a request for versions from the listing of objects, as S3Mock does: each
// object has one version, and the root element is a listing's of objects.
func listVersions(backend http.Handler, w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	query.Del("versions")
	query.Set("list-type", "2")
	r.URL.RawQuery = query.Encode()
	var page answerBuffer
	page.header = http.Header{}
	backend.ServeHTTP(&page, r)
	text := keyCount.ReplaceAllString(page.String(), "")
	_, _ = io.WriteString(w, strings.NewReplacer("<Contents>", "<Version><VersionId>null</VersionId>", "</Contents>", "</Version>").Replace(text))
}

var keyCount = regexp.MustCompile("<KeyCount>.*</KeyCount>")

type answerBuffer struct {
	strings.Builder
	header http.Header
}

func (a *answerBuffer) Header() http.Header { return a.header }
func (*answerBuffer) WriteHeader(int)       {}

// A run that cannot begin leaves no marker, and does not say that objects remain.
func TestNothingUploaded(t *testing.T) {
	t.Parallel()
	denied := false
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("versioning") || denied && r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>InvalidAccessKeyId</Code></Error>")
			return
		}
		backend.ServeHTTP(w, r)
	})
	for _, denied = range []bool{false, true} {
		l := newLease(c, "r")
		if err := l.Acquire(t.Context()); store.CodeOf(err) != "InvalidAccessKeyId" {
			t.Fatal(err)
		}
		err := l.Release(t.Context(), false)
		switch {
		case !denied && err != nil:
			t.Error(err)
		case !denied:
			nothingIsLeft(t, c)
		case err == nil || strings.Contains(err.Error(), "objects remain") || !strings.Contains(err.Error(), "nothing was uploaded, but the marker .warp/r.json may remain"):
			t.Errorf("Release: %v", err)
		}
	}
}

// Nothing was uploaded either if only the last write of the marker before the uploads failed.
func TestNothingUploadedAfterTheLastWrite(t *testing.T) {
	t.Parallel()
	writes := 0
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ".json") {
			writes++
		}
		if writes > 1 && r.Method != http.MethodGet {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code></Error>")
			return
		}
		backend.ServeHTTP(w, r)
	})
	l := newLease(c, "r")
	if err := l.Acquire(t.Context()); store.CodeOf(err) != "AccessDenied" {
		t.Fatal(err)
	}
	if err := l.Release(t.Context(), false); err == nil || !strings.Contains(err.Error(), "nothing was uploaded, but the marker .warp/r.json may remain") {
		t.Errorf("Release: %v", err)
	}
}

// A store that ignores the question for unfinished uploads has been cleaned up nevertheless, without
// a wait. Only after an interruption may there be such uploads.
func TestUploadsIgnored(t *testing.T) {
	t.Parallel()
	for _, cutOff := range []bool{false, true} {
		answer := answerQuery(map[string]string{"uploads": aListing})
		var asked atomic.Int64
		c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("uploads") {
				asked.Add(1)
			}
			answer(backend, w, r)
		})
		var warned warnings
		l := newLease(c, "r")
		l.progress = &warned
		check.OK(t, l.Acquire(t.Context()))
		put(t, l, 3)
		check.OK(t, l.Release(t.Context(), cutOff))
		if n := asked.Load(); n != 1 { // there is a wait before each repetition
			t.Errorf("cut off %t: the store was asked %d times", cutOff, n)
		}
		if (len(warned.all) > 0) != cutOff {
			t.Errorf("cut off %t: warnings %q", cutOff, warned.all)
		}
		nothingIsLeft(t, c)
	}
}

// If the objects are gone and a later step fails, the error does not say that objects remain.
func TestUploadsRefused(t *testing.T) {
	t.Parallel()
	c := newStore(t, answerQuery(map[string]string{"uploads": "<html></html>"}))
	l := newLease(c, "r")
	check.OK(t, l.Acquire(t.Context()))
	put(t, l, 3)
	if err := l.Release(t.Context(), false); err == nil || !strings.Contains(err.Error(), "the objects are removed, but") {
		t.Errorf("Release: %v", err)
	}
}

// A listing of the run's own names that never ends is an error, and so is any other that takes too long.
func TestEndlessListing(t *testing.T) {
	t.Parallel()
	const written = 3
	tests := map[string]struct {
		prefix  string // that has no end
		timeout time.Duration
		acquire string // error, "" = none
		release string
	}{
		"own names":   {generator.RunPrefix(1), 0, "", "the store invents objects: the listing under " + generator.RunPrefix(1) + " has more than 1000"},
		"with a time": {generator.RunPrefix(1), 300 * time.Millisecond, "", "took longer than 300ms, with "},
		"the markers": {markerPrefix, 300 * time.Millisecond, `the listing of ".warp/" took longer than 300ms, with `, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var endless atomic.Bool
			endless.Store(test.acquire != "")
			pages := 0
			c := newStoreWith(t, store.Options{ListTimeout: test.timeout}, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
				query := r.URL.Query()
				if r.Method != http.MethodGet || query.Get("list-type") != "2" || query.Get("prefix") != test.prefix || !endless.Load() {
					backend.ServeHTTP(w, r)
					return
				}
				pages++
				if test.timeout > 0 {
					time.Sleep(20 * time.Millisecond)
				}
				fmt.Fprintf(w, "<ListBucketResult><Name>bucket</Name><Prefix>%s</Prefix><KeyCount>100</KeyCount><MaxKeys>100</MaxKeys><IsTruncated>true</IsTruncated><NextContinuationToken>t%d</NextContinuationToken>", test.prefix, pages)
				for i := range 100 {
					fmt.Fprintf(w, "<Contents><Key>%s%08d</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>1</Size></Contents>", test.prefix, pages*100+i)
				}
				_, _ = io.WriteString(w, "</ListBucketResult>")
			})
			l := newLease(c, "r")
			if test.timeout == 0 {
				l.opts.Written = func() (names, requests int64) { return written, 2 * written }
			}
			is := func(what string, err error, want string) {
				t.Helper()
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", what, err, want)
				}
			}
			err := l.Acquire(t.Context())
			is("acquire", err, test.acquire)
			if err == nil {
				put(t, l, written)
			}
			endless.Store(test.release != "")
			is("release", l.Release(t.Context(), false), test.release)
		})
	}
}

// noTime is an answer without Last-Modified.
type noTime struct{ http.ResponseWriter }

func (n noTime) WriteHeader(status int) {
	n.Header().Del("Last-Modified")
	n.ResponseWriter.WriteHeader(status)
}

// A store may say only in listings when it wrote an object. Leases are as good there.
func TestNoLastModified(t *testing.T) {
	t.Parallel()
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) { backend.ServeHTTP(noTime{w}, r) })
	alive, second := newLease(c, "a"), newLease(c, "b")
	check.OK(t, alive.Acquire(t.Context()))
	put(t, alive, 3)
	if err := second.Acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "is using the same names") {
		t.Errorf("the names of a run that is alive: %v", err)
	}
	for _, l := range []*Lease{second, alive} {
		if err := l.Release(t.Context(), false); err != nil {
			t.Error(err)
		}
	}
	if alive.objects.Load() != 3 {
		t.Errorf("%d objects removed", alive.objects.Load())
	}
	nothingIsLeft(t, c)
}
