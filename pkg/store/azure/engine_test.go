package azure

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/pkg/store"
	"warp/pkg/store/httpclient"
	"warp/pkg/store/provider"
)

// opened contains the engine and admin of a store.
type opened struct {
	engine *store.Host // of the engine alone
	admin  store.Admin
}

func open(t *testing.T, open func(*store.Config) (store.Driver, error), cfg store.Config, a store.Address) *opened {
	t.Helper()
	cfg.AppVersion, cfg.Concurrency, cfg.Hosts = "1", 1, []store.Address{a}
	driver, err := open(&cfg)
	check.OK(t, err)
	e, err := driver.Engine(&cfg, a, new(store.Counters))
	check.OK(t, err)
	admin, err := driver.Admin(&cfg, a)
	check.OK(t, err)
	t.Cleanup(func() { e.Close(); admin.Close() })
	o := &opened{&store.Host{Engine: e}, admin}
	return o
}

var testKeys = store.Keys{AccessKey: testAccount, SecretKey: testKey}

func (s *standIn) open(t *testing.T, cfg store.Config) *opened {
	t.Helper()
	with := Open
	if s.lake {
		with = OpenLake
	}
	if cfg.Credentials == nil {
		cfg.Credentials = testKeys
	}
	return open(t, with, cfg, store.Address{Name: s.addr})
}

func ref(key string) store.Ref { return store.Ref{Bucket: testContainer, Key: key} }

func (o *opened) put(t *testing.T, key, data string) store.Object {
	t.Helper()
	made, err := o.engine.Put(t.Context(), store.Put{Ref: ref(key), Body: strings.NewReader(data), Size: int64(len(data))}, store.NewTrace(time.Now()))
	check.OK(t, err)
	return made
}

func (s *standIn) names() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, versions := range s.blobs {
		for range versions {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// The engines pass the suite with every way to send and authorize requests, and send only
// documented requests.
func TestSuite(t *testing.T) {
	t.Parallel()
	for _, lake := range []bool{false, true} {
		for name, cfg := range map[string]store.Config{
			"key": {}, "token": {Bearer: store.Bearer{Token: testToken}}, "signature": {Settings: store.EncodeSettings(Settings{SAS: testSAS})},
			"described": {Options: store.Options{MD5: true, Checksum: store.ChecksumCRC64NVME, Metadata: []store.Attribute{{Key: "Color", Value: "red"}}}},
			"in blocks": {Options: store.Options{PartSize: 1 << 20}}, "versions": {},
		} {
			t.Run(fmt.Sprintf("lake=%t/%s", lake, name), func(t *testing.T) {
				t.Parallel()
				s := newStandIn(t)
				s.lake, s.versions = lake, name == "versions" && !lake
				enginetest.RunWithout(t, s.open(t, cfg).engine, enginetest.Lacks{Order: lake})
			})
		}
		t.Run(fmt.Sprintf("lake=%t/net http", lake), func(t *testing.T) {
			t.Parallel()
			s := newStandIn(t)
			s.lake = lake
			enginetest.RunWithout(t, s.open(t, store.Config{}).admin, enginetest.Lacks{Order: lake})
		})
	}
}

// The engines pass it on odd stores, too.
func TestOddities(t *testing.T) {
	t.Parallel()
	for _, lake := range []bool{false, true} {
		for _, admin := range []bool{false, true} {
			enginetest.WithOddities(t, func(t *testing.T, through func(string) string, lacks enginetest.Lacks) {
				lacks.Order = lake
				s := newStandIn(t)
				s.lake, s.addr = lake, through(s.addr)
				o := s.open(t, store.Config{})
				if admin {
					enginetest.RunWithout(t, o.admin, lacks)
				} else {
					enginetest.RunWithout(t, o.engine, lacks)
				}
			})
		}
	}
}

// The string to sign equals the one in Microsoft's documentation for this request.
func TestStringToSign(t *testing.T) {
	t.Parallel()
	c := httpclient.NewRequest("GET", "/mycontainer?restype=container&timeout=20&comp=metadata")
	defer c.End()
	const date = "Fri, 26 Jun 2015 23:39:12 GMT"
	want := "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" + date + "\nx-ms-version:2015-02-21\n/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20"
	if got := string(new(signer).appendStringToSign(nil, c, "myaccount", date, "2015-02-21")); got != want {
		t.Errorf("signed is\n%q, want\n%q", got, want)
	}
	c = httpclient.NewRequest("PUT", "/c/a%20b?Comp=x%2Fy")
	defer c.End()
	c.Document("text/plain; charset=UTF-8", []byte("hello world"))
	c.Header("x-ms-meta-m1", " v1 ")
	c.Header("x-ms-blob-type", "BlockBlob")
	c.Header("if-none-match", "*")
	want = "PUT\n\n\n11\n\ntext/plain; charset=UTF-8\n\n\n\n*\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:" + date +
		"\nx-ms-meta-m1:v1\nx-ms-version:2015-02-21\n/myaccount/c/a%20b\ncomp:x/y"
	if got := string(new(signer).appendStringToSign(nil, c, "myaccount", date, "2015-02-21")); got != want {
		t.Errorf("signed is\n%q, want\n%q", got, want)
	}
}

// Errors have codes that warp knows, and messages that do not differ from request to request.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status           int
		header, document string
		code, message    string
	}{
		{404, "BlobNotFound", "<Error><Code>BlobNotFound</Code><Message>The specified blob does not exist.\nRequestId:1\nTime:2</Message></Error>", "NoSuchKey", "The specified blob does not exist."},
		{404, "", "\ufeff<?xml version=\"1.0\"?><Error><Code>ContainerNotFound</Code><Message>no</Message></Error>", "NoSuchBucket", "no"},
		{404, "", `{"error":{"code":"FilesystemNotFound","message":"no\nRequestId:1"}}`, "NoSuchBucket", "no"},
		{404, "", "", "NoSuchKey", "Not Found"},
		{503, "ServerBusy", "<Error><Code>ServerBusy</Code><Message>The server is busy.</Message></Error>", "ServerBusy", "The server is busy."},
		{412, "ConditionNotMet", "", "PreconditionFailed", "Precondition Failed"},
		{409, "BlobAlreadyExists", "", "BlobAlreadyExists", "Conflict"},
		{403, "AuthenticationFailed", "<Error><Code>AuthenticationFailed</Code><Message>m</Message><AuthenticationErrorDetail>The MAC signature found in the HTTP request 'x' is not the same as any computed signature. Server used following string to sign: 'GET'.</AuthenticationErrorDetail></Error>",
			"SignatureDoesNotMatch", "the store computes another signature"},
		{403, "AuthenticationFailed", "<Error><Code>AuthenticationFailed</Code><Message>m</Message><AuthenticationErrorDetail>Request date header too old: 'x'</AuthenticationErrorDetail></Error>",
			"RequestTimeTooSkewed", "Request date header too old: 'x'"},
		{403, "AuthorizationFailure", "", "AccessDenied", "Forbidden"},
		{401, "NoAuthenticationInformation", "", "Unauthorized", "Unauthorized"},
		{500, "", "<!DOCTYPE html><html>x", "HTTP500", store.HTMLPage},
		{500, "no code\x1b[0m", "garbage \x00", "HTTP500", "garbage"},
		{400, "", "<Error><Code>a b", "HTTP400", "<Error><Code>a b"},
	} {
		err := refusalOf(c.status, c.header, []byte(c.document))
		if err.Code != c.code || !strings.HasPrefix(err.Message, c.message) || err.Status != c.status || strings.Contains(err.Message, "RequestId") {
			t.Errorf("%d %s %s: %s: %q", c.status, c.header, c.document, err.Code, err.Message)
		}
	}
}

// A busy store, a wrong clock and a wrong key produce different errors.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	o := s.open(t, store.Config{})
	s.fail = []func(http.ResponseWriter){
		func(w http.ResponseWriter) { s.say(w, 503, "ServerBusy", "The server is busy.", "") },
		func(w http.ResponseWriter) {
			s.say(w, 403, "AuthenticationFailed", "no", "Request date header too old: 'x'")
		},
	}
	_, err := o.engine.Get(t.Context(), store.Get{Ref: ref("x")}, store.NewTrace(time.Now()))
	if store.CodeOf(err) != "ServerBusy" || !store.Repeatable(err) {
		t.Errorf("a busy store: %v", err)
	}
	if _, err = o.engine.Get(t.Context(), store.Get{Ref: ref("x")}, store.NewTrace(time.Now())); store.CodeOf(err) != codeSkewed {
		t.Errorf("a wrong clock: %v", err)
	}
	other := s.open(t, store.Config{Credentials: store.Keys{AccessKey: testAccount, SecretKey: "d3Jvbmc="}})
	if _, err = other.engine.Get(t.Context(), store.Get{Ref: ref("x")}, store.NewTrace(time.Now())); store.CodeOf(err) != codeSignature {
		t.Errorf("a wrong key: %v", err)
	}
	for _, garbage := range []string{"", "<html>", "{}", "<EnumerationResults><Blobs><Blob><Name></Name></Blob></Blobs></EnumerationResults>",
		"<EnumerationResults><Blobs><Blob><Name>a</Name><Properties><Content-Length>x</Content-Length></Properties></Blob></Blobs></EnumerationResults>",
		"<EnumerationResults><Blobs><Blob><Name>a</Name>"} {
		s.fail = []func(http.ResponseWriter){func(w http.ResponseWriter) { _, _ = io.WriteString(w, garbage) }}
		err := o.engine.List(t.Context(), store.List{Bucket: testContainer}, func(store.Object) bool { return true }, store.NewTrace(time.Now()))
		if store.CodeOf(err) != store.CodeBadAnswer {
			t.Errorf("a listing %q: %v", garbage, err)
		}
	}
	s.fail = []func(http.ResponseWriter){func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, "<EnumerationResults><Blobs></Blobs><NextMarker>m</NextMarker></EnumerationResults>")
	}}
	s.fail = append(s.fail, s.fail[0], s.fail[0])
	if err := o.engine.List(t.Context(), store.List{Bucket: testContainer}, func(store.Object) bool { return true }, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeBadAnswer {
		t.Errorf("a listing in a circle: %v", err)
	}
}

// Completing an upload does not replace a blob that has appeared meanwhile. Aborting an upload
// leaves nothing behind and does not change existing blobs.
func TestUploadsInParts(t *testing.T) {
	t.Parallel()
	for _, versions := range []bool{false, true} {
		s := newStandIn(t)
		s.versions = versions
		o := s.open(t, store.Config{})
		begin := func(key string) (store.Upload, []store.Part) {
			u, err := o.engine.StartUpload(t.Context(), store.Put{Ref: ref(key), ContentType: "text/x",
				Headers: []store.Header{{Name: "x-amz-meta-warp-run", Value: "RUN"}}}, store.NewTrace(time.Now()))
			check.OK(t, err)
			var parts []store.Part
			for _, n := range []int{1, 2, store.MaxPart} {
				p, err := o.engine.PutPart(t.Context(), store.PutPart{Upload: u, Number: n, Body: strings.NewReader("part"), Size: 4}, store.NewTrace(time.Now()))
				check.OK(t, err)
				parts = append(parts, p)
			}
			u.If.Absent = true
			return u, parts[:2]
		}
		u, parts := begin("whole")
		other := s.open(t, store.Config{}) // does not know the upload
		var found []store.Upload
		check.OK(t, other.admin.(*Admin).Uploads(t.Context(), testContainer, "who", func(u store.Upload) error { found = append(found, u); return nil }))
		if len(found) != 1 || found[0].ID != u.ID || found[0].Key != "whole" {
			t.Errorf("found %+v, began %+v", found, u)
		}
		var last store.Part
		check.OK(t, other.admin.(*Admin).Parts(t.Context(), u, func(p store.Part) bool { last = p; return true }))
		if last.Number != store.MaxPart || last.Size != 4 || last.ETag != "c240cd8da6c2cfbf8dc4b9bfa1e4d0d9" && len(last.ETag) != 32 {
			t.Errorf("the last part is %+v", last)
		}
		if _, err := other.engine.CompleteUpload(t.Context(), u, parts, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeNoUpload || s.find("whole", "") != nil {
			t.Errorf("completing it without its metadata: %v", err)
		}
		made, err := o.engine.CompleteUpload(t.Context(), u, parts, store.NewTrace(time.Now()))
		check.OK(t, err)
		h, err := o.admin.Headers(t.Context(), ref("whole"), false)
		check.OK(t, err)
		if made.Size != 8 || string(s.find("whole", "").data) != "partpart" || h.Get("X-Amz-Meta-Warp-Run") != "RUN" || h.Get("Content-Type") != "text/x" {
			t.Errorf("made %+v with %v", made, h)
		}
		// Another client is faster.
		u, parts = begin("taken")
		kept := s.blocks["taken"]
		o.put(t, "taken", "foreign")
		s.blocks["taken"] = kept // the store has not dropped them
		_, err = o.engine.CompleteUpload(t.Context(), u, parts, store.NewTrace(time.Now()))
		if e, ok := err.(*store.Error); !ok || e.Status != http.StatusConflict {
			t.Errorf("completing over a foreign blob: %v", err)
		}
		check.OK(t, o.admin.(*Admin).AbortUpload(t.Context(), u, store.NewTrace(time.Now())))
		if b := s.find("taken", ""); b == nil || string(b.data) != "foreign" {
			t.Error("the foreign blob has changed")
		}
		u, _ = begin("aborted")
		check.OK(t, other.admin.(*Admin).AbortUpload(t.Context(), u, store.NewTrace(time.Now())))
		if err := other.admin.(*Admin).AbortUpload(t.Context(), u, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeNoUpload {
			t.Errorf("aborting again: %v", err)
		}
		if names := s.names(); !slices.Equal(names, []string{"taken", "whole"}) || len(s.blocks["aborted"]) > 0 {
			t.Errorf("left are %q, and %d blocks", names, len(s.blocks["aborted"]))
		}
		// Aborting does not affect another client's upload to the same blob.
		u, _ = begin("shared")
		foreign := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), blockSize))
		s.blocks["shared"][foreign] = []byte("foreign")
		check.OK(t, o.admin.(*Admin).AbortUpload(t.Context(), u, store.NewTrace(time.Now())))
		if s.blocks["shared"][foreign] == nil {
			t.Error("an upload of somebody else was ended")
		}
	}
}

// Versions are known from the first upload on, or from existing ones. They are deleted one by one,
// including the current one.
func TestVersions(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.versions = true
	o := s.open(t, store.Config{})
	state := func(o *opened) string {
		is, err := o.admin.(*Admin).Versioning(t.Context(), testContainer)
		check.OK(t, err)
		return is
	}
	if is := state(o); is != "" {
		t.Errorf("an empty container is %q", is)
	}
	first, second := o.put(t, "a", "1"), o.put(t, "a", "22")
	third := o.put(t, "b", "333")
	if state(o) != "Enabled" || state(s.open(t, store.Config{})) != "Enabled" || first.VersionID == "" || first.VersionID == second.VersionID {
		t.Errorf("versions %q and %q", first.VersionID, second.VersionID)
	}
	got, err := o.engine.Stat(t.Context(), first.Ref, store.NewTrace(time.Now()))
	if err != nil || got.Size != 1 || got.VersionID != first.VersionID {
		t.Errorf("version %+v: %v", got, err)
	}
	var listed []store.Ref
	check.OK(t, o.admin.List(t.Context(), store.List{Bucket: testContainer, Versions: true}, func(o store.Object) bool { listed = append(listed, o.Ref); return true }, store.NewTrace(time.Now())))
	if !slices.Equal(listed, []store.Ref{first.Ref, second.Ref, third.Ref}) {
		t.Errorf("listed are %v", listed)
	}
	check.OK(t, o.admin.Delete(t.Context(), listed, store.NewTrace(time.Now())))
	if names := s.names(); len(names) > 0 {
		t.Errorf("left are %q", names)
	}
	if err := o.admin.(*Admin).SetVersioning(t.Context(), testContainer, true); store.CodeOf(err) != "NotImplemented" {
		t.Errorf("turning versions on: %v", err)
	}
}

// Uploads to Blob Storage and to Data Lake Storage may append. A wrong offset is an error.
func TestAppends(t *testing.T) {
	t.Parallel()
	for _, lake := range []bool{false, true} {
		s := newStandIn(t)
		s.lake = lake
		o := s.open(t, store.Config{})
		put := func(offset, data string) error {
			_, err := o.engine.Put(t.Context(), store.Put{Ref: ref("log"), Body: strings.NewReader(data), Size: int64(len(data)),
				Headers: []store.Header{{Name: appendHeader, Value: offset}}}, store.NewTrace(time.Now()))
			return err
		}
		check.OK(t, put("0", "one "))
		check.OK(t, put("4", "two"))
		if err := put("4", "again"); err == nil {
			t.Error("an append to where the object does not end")
		}
		if got := string(s.find("log", "").data); got != "one two" {
			t.Errorf("the object is %q", got)
		}
	}
}

// Copy waits for a copy that is not complete at once.
func TestCopiesThatTakeTime(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	o := s.open(t, store.Config{Settings: store.EncodeSettings(Settings{SAS: testSAS})})
	o.put(t, "from", "content")
	s.pending = 3
	tr := store.NewTrace(time.Now())
	_, err := o.engine.Copy(t.Context(), store.Copy{From: ref("from"), To: ref("to")}, tr)
	if err != nil || tr.Requests() != 5 || s.pending != 0 {
		t.Errorf("after %d requests: %v", tr.Requests(), err)
	}
}

// RemoveFolders removes the empty directories of a run, and no others.
func TestFolders(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.lake = true
	o := s.open(t, store.Config{})
	for _, name := range []string{"photos/warp-x/a/1", "photos/warp-x/b/2", "photos/mine", "photos/warp-x/b/foreign"} {
		o.put(t, name, "x")
	}
	check.OK(t, o.admin.Delete(t.Context(), []store.Ref{ref("photos/warp-x/a/1"), ref("photos/warp-x/b/2"), ref("photos/warp-x/gone")}, store.NewTrace(time.Now())))
	remove := func() {
		check.OK(t, o.admin.(store.FolderRemover).RemoveFolders(t.Context(), testContainer, "photos/warp-x/"))
	}
	remove()
	if s.folders["photos/warp-x/a"] || !s.folders["photos/warp-x/b"] || !s.folders["photos"] {
		t.Errorf("left are %v", s.folders)
	}
	check.OK(t, o.admin.Delete(t.Context(), []store.Ref{ref("photos/warp-x/b/foreign")}, store.NewTrace(time.Now())))
	remove()
	remove() // there are none
	if len(s.folders) != 1 || !s.folders["photos"] {
		t.Errorf("left are %v", s.folders)
	}
}

// Containers carry warp's mark. A missing container does not exist.
func TestContainers(t *testing.T) {
	t.Parallel()
	for _, lake := range []bool{false, true} {
		s := newStandIn(t)
		s.lake, s.container = lake, nil
		o := s.open(t, store.Config{})
		if there, err := o.admin.BucketExists(t.Context(), testContainer); there || err != nil {
			t.Errorf("before it is made: %t, %v", there, err)
		}
		check.OK(t, o.admin.MakeBucket(t.Context(), testContainer))
		if there, err := o.admin.BucketExists(t.Context(), testContainer); !there || err != nil || !o.admin.MadeByWarp(t.Context(), testContainer) {
			t.Errorf("made: %t, %v", there, err)
		}
		clear(s.container)
		if o.admin.MadeByWarp(t.Context(), testContainer) {
			t.Error("warp takes a container for its own")
		}
	}
}

// Each source of credentials is used only for the right hosts.
func TestIdentify(t *testing.T) {
	t.Parallel()
	const connection = "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=a2V5;EndpointSuffix=core.windows.net"
	file := filepath.Join(t.TempDir(), "token")
	check.OK(t, os.WriteFile(file, []byte("proof"), 0o600))
	blobs, emulator := store.Address{Name: "acct.blob.core.windows.net"}, store.Address{Name: "127.0.0.1:10000", Path: "/" + emulatorAccount}
	for _, c := range []struct {
		id     provider.Identity
		env    string
		host   store.Address
		tls    bool
		source string // or the error
	}{
		{provider.Identity{Access: "a", Secret: "a2V5"}, "", blobs, true, "flags or WARP_* variables"},
		{provider.Identity{Token: "abc"}, "AZURE_STORAGE_CONNECTION_STRING=" + connection, blobs, true, "--access-token"},
		{provider.Identity{Token: "?sv=1&sig=a%2Fb"}, "", blobs, true, "--access-token (a shared access signature)"},
		{provider.Identity{Token: "abc"}, "", blobs, false, "would send a secret to"},
		{provider.Identity{Metadata: true}, "", blobs, true, "the metadata server"},
		{provider.Identity{}, "AZURE_STORAGE_CONNECTION_STRING=" + connection, blobs, true, "AZURE_STORAGE_CONNECTION_STRING"},
		{provider.Identity{}, "AZURE_STORAGE_CONNECTION_STRING=" + connection, store.Address{Name: "other.blob.core.windows.net"}, true, "nowhere (anonymous requests)"},
		{provider.Identity{}, "AZURE_STORAGE_CONNECTION_STRING=nonsense", blobs, true, "AZURE_STORAGE_CONNECTION_STRING is not a connection string"},
		{provider.Identity{}, "AZURE_STORAGE_CONNECTION_STRING=UseDevelopmentStorage=true", emulator, false, "AZURE_STORAGE_CONNECTION_STRING"},
		{provider.Identity{}, "AZURE_STORAGE_ACCOUNT=acct AZURE_STORAGE_KEY=a2V5", blobs, true, "AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY"},
		{provider.Identity{}, "AZURE_STORAGE_SAS_TOKEN=sv=1&sig=x", blobs, true, "AZURE_STORAGE_SAS_TOKEN"},
		{provider.Identity{}, "AZURE_STORAGE_SAS_TOKEN=sv=1", blobs, true, "the shared access signature has no sig parameter"},
		{provider.Identity{}, "AZURE_TENANT_ID=t AZURE_CLIENT_ID=c AZURE_CLIENT_SECRET=s", blobs, true, "AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"},
		{provider.Identity{}, "AZURE_TENANT_ID=t AZURE_CLIENT_ID=c AZURE_FEDERATED_TOKEN_FILE=" + file, blobs, true, "AZURE_FEDERATED_TOKEN_FILE"},
		{provider.Identity{}, "AZURE_TENANT_ID=t AZURE_CLIENT_ID=c", blobs, true, "AZURE_CLIENT_ID is set without"},
		{provider.Identity{}, "", emulator, false, "the emulator's well-known account"},
		{provider.Identity{}, "", blobs, true, "nowhere (anonymous requests)"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		c.id.Getenv = func(name string) string { return env[name] }
		cfg := store.Config{TLS: c.tls, Hosts: []store.Address{c.host}}
		source, _, err := identify(&c.id, &cfg)
		if err != nil {
			source = err.Error()
		}
		if err == nil && source != c.source || !strings.Contains(source, c.source) {
			t.Errorf("%+v with %s at %s: %q, want %q", c.id.Token, c.env, c.host.Name, source, c.source)
		}
		if portable := Portable(&cfg); (portable != nil) != (c.id.Metadata || env["AZURE_FEDERATED_TOKEN_FILE"] != "") {
			t.Errorf("%s: portable: %v", c.source, portable)
		}
	}
	for host, want := range map[string]string{"acct.blob.core.windows.net": "blob", "ACCT.blob.core.windows.net:443": "blob", "acct.dfs.core.windows.net": "dfs",
		"acct.z12.blob.storage.azure.net": "blob", "acct.blob.core.chinacloudapi.cn": "blob", "blob.core.windows.net": "", "acct.blob.core.windows.net.example": "", "acct.queue.core.windows.net": ""} {
		got := ""
		switch {
		case Serves(host):
			got = "blob"
		case ServesLake(host):
			got = "dfs"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", host, got, want)
		}
	}
}

// Tokens come from Entra ID, with a secret or a file, and from the metadata server.
func TestTokens(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	check.OK(t, os.WriteFile(file, []byte("proof\n"), 0o600))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		secret := r.FormValue("client_secret") == "s" && r.FormValue("client_assertion") == ""
		proof := r.FormValue("client_assertion") == "proof" && r.FormValue("client_assertion_type") != "" && r.FormValue("client_secret") == ""
		byClient := r.URL.Path == "/tenant/oauth2/v2.0/token" && r.FormValue("grant_type") == "client_credentials" &&
			r.FormValue("scope") == "https://storage.azure.com/.default" && r.FormValue("client_id") == "c" && (secret || proof)
		byMachine := r.URL.Path == "/metadata/identity/oauth2/token" && r.Header.Get("Metadata") == "true" && r.FormValue("resource") == "https://storage.azure.com/"
		if !byClient && !byMachine {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_client"}`)
			return
		}
		_, _ = io.WriteString(w, `{"token_type":"Bearer","expires_in":"3599","access_token":"the-token"}`)
	}))
	defer server.Close()
	for _, c := range []client{{Authority: server.URL + "/", Tenant: "tenant", ID: "c", Secret: "s"}, {Authority: server.URL, Tenant: "tenant", ID: "c", TokenFile: file}} {
		token, err := c.token(t.Context())
		if err != nil || token.AccessToken != "the-token" || time.Until(token.Expiry) < 30*time.Minute {
			t.Errorf("%+v: %+v, %v", c, token, err)
		}
	}
	token, err := askMetadata(t.Context(), server.URL)
	if err != nil || token.AccessToken != "the-token" || time.Until(token.Expiry) < 30*time.Minute {
		t.Errorf("the metadata server: %+v, %v", token, err)
	}
	if _, err := (&client{Authority: server.URL, Tenant: "tenant", ID: "c", Secret: "wrong"}).token(t.Context()); err == nil {
		t.Error("a wrong secret has a token")
	}
}
