package azure

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// file handles a request about a file or a directory of Data Lake Storage.
func (s *standIn) file(w http.ResponseWriter, r *http.Request, name string, q url.Values) {
	body, _ := io.ReadAll(r.Body)
	if !s.intact(w, r, body) {
		return
	}
	b := s.find(name, "")
	switch action := q.Get("action"); {
	case r.Method == http.MethodPut && q.Get("resource") == "file" && len(body) == 0:
		s.create(w, r, name)
	case r.Method == http.MethodDelete && s.folders[name]:
		s.removeFolder(w, name, q.Get("recursive"))
	case b == nil:
		s.say(w, http.StatusNotFound, "PathNotFound", "The specified path does not exist.", "")
	case r.Method == http.MethodPatch && action == "append":
		if at := len(b.data) + len(s.appended[name]); q.Get("position") != strconv.Itoa(at) || len(body) == 0 {
			s.say(w, http.StatusBadRequest, "InvalidAppendPosition", "The position is not where the data ends.", "")
			return
		}
		s.appended[name] = append(s.appended[name], body...)
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPatch && action == "flush":
		if at := len(b.data) + len(s.appended[name]); q.Get("position") != strconv.Itoa(at) || len(body) != 0 {
			s.say(w, http.StatusBadRequest, "InvalidFlushPosition", "The uploaded data is not contiguous or the position is wrong.", "")
			return
		}
		b.data = append(b.data, s.appended[name]...)
		delete(s.appended, name)
		s.clock++
		b.etag = fmt.Sprintf(`"0x8D%012X"`, s.clock)
		w.Header().Set("ETag", b.etag)
	case r.Method == http.MethodDelete && !s.matches(w, r, b):
	case r.Method == http.MethodDelete:
		s.live[name] = false
		s.blobs[name] = nil
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		s.show(w, r, b)
	default:
		s.wrong(w, r, "there is no such request about a file")
	}
}

// create creates a file and the directories above it.
func (s *standIn) create(w http.ResponseWriter, r *http.Request, name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		s.folders[dir] = true
	}
	b := &blob{name: name, contentType: r.Header.Get("X-Ms-Content-Type")}
	delete(s.appended, name)
	if !s.keep(w, r, b) {
		return
	}
	for pair := range strings.SplitSeq(r.Header.Get("X-Ms-Properties"), ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			text, err := base64.StdEncoding.DecodeString(value)
			if err != nil {
				s.t.Errorf("property %q: %v", pair, err)
			}
			b.meta[key] = string(text)
		}
	}
}

func (s *standIn) removeFolder(w http.ResponseWriter, name, recursive string) {
	for other := range s.folders {
		if recursive != "true" && strings.HasPrefix(other, name+"/") {
			s.say(w, http.StatusConflict, "DirectoryNotEmpty", "The recursive query parameter value must be true to delete a non-empty directory.", "")
			return
		}
	}
	for other := range s.live {
		if recursive != "true" && s.live[other] && strings.HasPrefix(other, name+"/") {
			s.say(w, http.StatusConflict, "DirectoryNotEmpty", "The recursive query parameter value must be true to delete a non-empty directory.", "")
			return
		}
	}
	delete(s.folders, name)
}

// paths lists a directory, two entries per page at most. A page may be empty.
func (s *standIn) paths(w http.ResponseWriter, r *http.Request, q url.Values) {
	recursive, err := strconv.ParseBool(q.Get("recursive"))
	if q.Get("resource") != "filesystem" || r.Method != http.MethodGet || err != nil {
		s.wrong(w, r, "there is no such request about a file system")
		return
	}
	directory := q.Get("directory")
	if directory != "" && !s.folders[directory] {
		s.say(w, http.StatusNotFound, "PathNotFound", "The specified path does not exist.", "")
		return
	}
	var all []map[string]string
	below := func(name string) bool {
		if directory != "" && !strings.HasPrefix(name, directory+"/") {
			return false
		}
		rest := strings.TrimPrefix(strings.TrimPrefix(name, directory), "/")
		return recursive || !strings.Contains(rest, "/")
	}
	for name := range s.folders {
		if below(name) {
			all = append(all, map[string]string{"name": name, "isDirectory": "true", "lastModified": "Mon, 02 Jan 2006 15:04:05 GMT"})
		}
	}
	for name, live := range s.live {
		if live && below(name) {
			b := s.find(name, "")
			all = append(all, map[string]string{"name": name, "contentLength": strconv.Itoa(len(b.data)), "etag": strings.Trim(b.etag, `"`),
				"lastModified": b.made.UTC().Format(http.TimeFormat)})
		}
	}
	slices.SortFunc(all, func(a, b map[string]string) int { return cmp.Compare(a["name"], b["name"]) })
	from, _ := strconv.Atoi(q.Get("continuation"))
	size := 2
	if n, err := strconv.Atoi(q.Get("maxResults")); err == nil {
		size = min(size, n)
	}
	to := min(from+size, len(all))
	if to < len(all) {
		w.Header().Set("x-ms-continuation", strconv.Itoa(to))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"paths": all[from:to]})
}
