package engines

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// A form is a received form, with its fields in order.
type form struct {
	length int64
	names  []string
	fields map[string]string
}

func readForm(t *testing.T, r *http.Request) form {
	t.Helper()
	f := form{length: r.ContentLength, fields: map[string]string{}}
	parts, err := r.MultipartReader()
	if err != nil {
		t.Errorf("no form: %v", err)
		return f
	}
	for {
		p, err := parts.NextPart()
		if err == io.EOF {
			return f
		}
		if err != nil {
			t.Errorf("the form breaks off: %v", err)
			return f
		}
		value, _ := io.ReadAll(p)
		f.names = append(f.names, p.FormName())
		f.fields[p.FormName()] = string(value)
	}
}

// wellMade checks everything that a store may insist on.
func (f form) wellMade(t *testing.T, payload string) {
	t.Helper()
	if f.length <= int64(len(payload)) {
		t.Errorf("the form announces %d bytes", f.length)
	}
	if last := f.names[len(f.names)-1]; last != "file" || f.fields["file"] != payload {
		t.Errorf("the last field is %s, and the payload %.40q", last, f.fields["file"])
	}
	policy, err := base64.StdEncoding.DecodeString(f.fields["policy"])
	if err != nil || !json.Valid(policy) {
		t.Fatalf("the policy is %q", policy)
	}
	for _, name := range []string{"x-amz-signature", "x-amz-credential", "x-amz-date", "x-amz-algorithm", "key"} {
		if f.fields[name] == "" {
			t.Errorf("the form has no %s", name)
		}
	}
	var p struct{ Conditions [][]any }
	check.OK(t, json.Unmarshal(policy, &p))
	if !slices.ContainsFunc(p.Conditions, func(c []any) bool { return fmt.Sprint(c) == fmt.Sprint([]any{"eq", "$key", f.fields["key"]}) }) {
		t.Errorf("the policy is not about %s: %s", f.fields["key"], policy)
	}
}

func TestPost(t *testing.T) {
	t.Parallel()
	var got form
	_, h := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" || r.URL.Path != "/bucket/" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		got = readForm(t, r)
		w.Header().Set("ETag", `"abc"`)
		w.Header().Set("X-Amz-Version-Id", "v1")
		w.WriteHeader(204)
	})
	tr := store.NewTrace(time.Now())
	put := store.Put{Ref: store.Ref{Bucket: "bucket", Key: `a/"ü`}, Body: bytes.NewReader([]byte("payload!")), Size: 8, ContentType: "text/plain",
		Headers: []store.Header{{Name: "x-amz-storage-class", Value: "GLACIER"}}}
	o, err := h.Post(t.Context(), put, tr)
	if err != nil || o.ETag != "abc" || o.VersionID != "v1" || o.Key != `a/"ü` || o.Size != 8 {
		t.Errorf("%+v, %v", o, err)
	}
	if tr.Requests() != 1 || tr.Status() != 204 || tr.LastByte() == 0 {
		t.Errorf("the trace has %d requests, status %d, last byte %s", tr.Requests(), tr.Status(), tr.LastByte())
	}
	got.wellMade(t, "payload!")
	if got.fields["key"] != `a/"ü` || got.fields["Content-Type"] != "text/plain" || got.fields["x-amz-storage-class"] != "GLACIER" {
		t.Errorf("the form is %v", got.fields)
	}
	put.Headers = []store.Header{{Name: "x-minio-extract", Value: "true"}}
	if _, err := h.Post(t.Context(), put, store.NewTrace(time.Now())); err == nil {
		t.Error("a header that no form can carry is left out in silence")
	}
}

func TestFanOut(t *testing.T) {
	t.Parallel()
	keys := []string{`a\`, `b"<`, "c"}
	ok := func(key string) string {
		name, _ := json.Marshal(key)
		return fmt.Sprintf(`{"key":%s,"etag":"e","versionId":"v","lastModified":"2026-11-21T00:00:00Z"}`+"\n", name)
	}
	tests := map[string]struct {
		status int
		answer string
		code   string // code of the error; "" = success
		says   string
	}{
		"all written":     {200, ok(`a\`) + ok(`b"<`) + ok("c"), "", ""},
		"one failed":      {200, ok(`a\`) + `{"key":"c","error":"disk full"}` + ok(`b"<`), store.CodePartial, "1 of 3 objects not written; first: disk full"},
		"one missing":     {200, ok(`a\`) + ok("c"), store.CodeBadAnswer, "confirmed 2 of 3"},
		"one twice":       {200, ok(`a\`) + ok(`a\`) + ok("c"), store.CodeBadAnswer, "confirmed 2 of 3"},
		"empty answer":    {200, "", store.CodeBadAnswer, "confirmed 0 of 3"},
		"a plain upload":  {204, "", store.CodeBadAnswer, "confirmed 0 of 3"},
		"not JSON":        {200, "<html>", store.CodeBadAnswer, "not a list of objects"},
		"refused":         {503, slowDown, "SlowDown", "reduce your request rate"},
		"refused, no XML": {400, "what?", "HTTP400", "Bad Request"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got form
			_, h := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
				got = readForm(t, r)
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.answer)
			})
			made, err := h.FanOut(t.Context(), store.FanOut{Bucket: "bucket", Keys: keys, Body: bytes.NewReader([]byte("payload!")), Size: 8}, store.NewTrace(time.Now()))
			got.wellMade(t, "payload!")
			var listed []string
			for line := range strings.Lines(got.fields["x-minio-fanout-list"]) {
				var one struct{ Key string }
				if err := json.Unmarshal([]byte(line), &one); err != nil {
					t.Error(err)
				}
				listed = append(listed, one.Key)
			}
			if fmt.Sprint(listed) != fmt.Sprint(keys) {
				t.Errorf("the form lists %q", listed)
			}
			switch {
			case test.code == "" && (err != nil || len(made) != 3 || made[1].Key != keys[1] || made[1].ETag != "e" || made[1].Size != 8):
				t.Errorf("%+v, %v", made, err)
			case test.code != "" && (store.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says)):
				t.Errorf("error %v, want %s: %s", err, test.code, test.says)
			}
		})
	}
}
