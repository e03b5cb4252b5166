package standin

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tinylib/msgp/msgp"
)

// An aisAction is the body of requests about buckets.
type aisAction struct {
	Action string          `json:"action"`
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
}

// aisPage is the max number of entries in a page of a listing.
const aisPage = 10000

// serveBucket answers requests about one bucket or all of them.
func (a *AIStore) serveBucket(w http.ResponseWriter, r *http.Request, name string) {
	var act aisAction
	if r.Method != http.MethodHead {
		if err := json.NewDecoder(r.Body).Decode(&act); err != nil {
			aisError(w, r, http.StatusBadRequest, "bad action message: %v", err)
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.find(r, name)
	switch {
	case r.Method == http.MethodGet && name == "":
		a.listBuckets(w)
	case r.Method == http.MethodPost && act.Action == "create-bck":
		a.createBucket(w, r, name, act.Value)
	case b == nil:
		a.noBucket(w, r, name)
	case r.Method == http.MethodHead:
		props, _ := json.Marshal(b.props)
		w.Header().Set("Ais-Bucket-Props", string(props))
	case r.Method == http.MethodPatch && act.Action == "set-bprops":
		a.setProperties(w, r, b, act.Value)
	case r.Method == http.MethodGet && act.Action == "list":
		b.list(w, r, act.Value)
	case r.Method == http.MethodDelete && act.Action == "destroy-bck" && b.backend == "ais":
		delete(a.buckets, b.id())
	case r.Method == http.MethodDelete && act.Action == "delete-listrange":
		a.deleteObjects(w, r, b, act.Value)
	default:
		aisError(w, r, http.StatusBadRequest, "%s: invalid action %q", r.Method, act.Action)
	}
}

func (a *AIStore) listBuckets(w http.ResponseWriter) {
	all := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(a.buckets)) {
		b := a.buckets[id]
		all = append(all, map[string]any{"name": b.name, "provider": b.backend, "namespace": map[string]string{"uuid": "", "name": ""}})
	}
	aisJSON(w, all)
}

func (a *AIStore) createBucket(w http.ResponseWriter, r *http.Request, name string, value json.RawMessage) {
	if backend := r.URL.Query().Get("provider"); backend != "" && backend != "ais" {
		aisError(w, r, http.StatusNotImplemented, "creating a bucket for provider %q is not supported", backend)
		return
	}
	b := newAISBucket("ais", name)
	if a.buckets[b.id()] != nil {
		aisError(w, r, http.StatusConflict, "bucket %q already exists", b.cname(""))
		return
	}
	if !a.setProperties(w, r, b, value) {
		return
	}
	a.buckets[b.id()] = b
}

func (a *AIStore) setProperties(w http.ResponseWriter, r *http.Request, b *aisBucket, value json.RawMessage) bool {
	var props map[string]any
	err := json.Unmarshal(value, &props)
	if len(value) == 0 {
		err = nil
	}
	if err == nil {
		err = b.set(props)
	}
	if err != nil {
		aisError(w, r, http.StatusBadRequest, "bad bucket properties: %v", err)
	}
	return err == nil
}

// An aisListing is a request for a listing.
type aisListing struct {
	UUID       string `json:"uuid"`
	Props      string `json:"props"`
	TimeFormat string `json:"time_format"`
	Prefix     string `json:"prefix"`
	StartAfter string `json:"start_after"`
	Token      string `json:"continuation_token"`
	Flags      uint64 `json:"flags,string"`
	PageSize   int    `json:"pagesize"`
}

// Flags of listings and of their entries.
const (
	aisCached      = 1 << 0
	aisNoRecursion = 1 << 11
	aisIsCached    = 1 << 6
	aisIsDirectory = 1 << 8
)

// An aisEntry is an object, or a directory, in a listing.
type aisEntry struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum,omitempty"`
	Atime    string `json:"atime,omitempty"`
	Version  string `json:"version,omitempty"`
	Size     int64  `json:"size,string,omitempty"`
	Flags    uint16 `json:"flags,omitempty"`
}

// list answers with a page.
func (b *aisBucket) list(w http.ResponseWriter, r *http.Request, value json.RawMessage) {
	var ask aisListing
	if err := json.Unmarshal(value, &ask); err != nil {
		aisError(w, r, http.StatusBadRequest, "bad list message: %v", err)
		return
	}
	if ask.Token != "" && ask.UUID == "" {
		aisError(w, r, http.StatusBadRequest, "a continuation token without the UUID of its listing")
		return
	}
	size := ask.PageSize
	if size <= 0 || size > aisPage {
		size = aisPage
	}
	var page []aisEntry
	more := ""
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		entry, ok := b.entry(key, &ask)
		if !ok || entry.Name <= max(ask.Token, ask.StartAfter) && max(ask.Token, ask.StartAfter) != "" {
			continue
		}
		if n := len(page); n > 0 && page[n-1].Name == entry.Name {
			continue // same directory as before
		}
		if len(page) == size {
			more = page[size-1].Name
			break
		}
		page = append(page, entry)
	}
	const uuid = "LiSt0standin"
	if !strings.Contains(r.Header.Get("Accept"), "application/msgpack") {
		aisJSON(w, map[string]any{"uuid": uuid, "continuation_token": more, "entries": page, "flags": 0})
		return
	}
	w.Header().Set("Content-Type", "application/msgpack")
	_, _ = w.Write(packPage(uuid, more, page))
}

// entry returns an object as a listing shows it, or false if it does not.
func (b *aisBucket) entry(key string, ask *aisListing) (e aisEntry, ok bool) {
	o := b.objects[key]
	rest, ok := strings.CutPrefix(key, ask.Prefix)
	if !ok || ask.Flags&aisCached != 0 && o.remote {
		return e, false
	}
	if dir, _, below := strings.Cut(rest, "/"); below && ask.Flags&aisNoRecursion != 0 {
		return aisEntry{Name: ask.Prefix + dir + "/", Flags: aisIsDirectory}, true
	}
	e = aisEntry{Name: key, Size: int64(len(o.data))}
	if !o.remote {
		e.Flags = aisIsCached
	}
	for prop := range strings.SplitSeq(ask.Props, ",") {
		switch prop {
		case "checksum":
			e.Checksum = o.sum
		case "version":
			e.Version = strconv.Itoa(o.version)
		case "atime":
			layout := ask.TimeFormat
			if layout == "" {
				layout = "02 Jan 06 15:04 MST"
			}
			e.Atime = o.atime.Format(layout)
		}
	}
	return e, true
}

// packPage encodes a page in MessagePack.
func packPage(uuid, more string, page []aisEntry) []byte {
	b := msgp.AppendMapHeader(nil, 4)
	b = msgp.AppendString(msgp.AppendString(b, "UUID"), uuid)
	b = msgp.AppendString(msgp.AppendString(b, "ContinuationToken"), more)
	b = msgp.AppendArrayHeader(msgp.AppendString(b, "Entries"), uint32(len(page)))
	for _, e := range page {
		b = msgp.AppendMapHeader(b, 6)
		b = msgp.AppendString(msgp.AppendString(b, "n"), e.Name)
		b = msgp.AppendString(msgp.AppendString(b, "cs"), e.Checksum)
		b = msgp.AppendString(msgp.AppendString(b, "a"), e.Atime)
		b = msgp.AppendString(msgp.AppendString(b, "v"), e.Version)
		b = msgp.AppendInt64(msgp.AppendString(b, "s"), e.Size)
		b = msgp.AppendUint16(msgp.AppendString(b, "f"), e.Flags)
	}
	return msgp.AppendUint32(msgp.AppendString(b, "Flags"), 0)
}

// An aisJob is a job that deletes many objects.
type aisJob struct {
	polls int // number of times that its status is "running"
	do    func()
}

// deleteObjects starts a job. An empty selection is the whole bucket.
func (a *AIStore) deleteObjects(w http.ResponseWriter, r *http.Request, b *aisBucket, value json.RawMessage) {
	var selected struct {
		Names    []string `json:"objnames"`
		Template string   `json:"template"`
	}
	if err := json.Unmarshal(value, &selected); err != nil || selected.Template != "" {
		aisError(w, r, http.StatusBadRequest, "bad selection %s", value)
		return
	}
	id := fmt.Sprintf("jOb%d", len(a.jobs))
	a.jobs[id] = &aisJob{polls: a.opts.Polls, do: func() {
		if len(selected.Names) == 0 {
			clear(b.objects)
		}
		for _, name := range selected.Names {
			delete(b.objects, name)
		}
	}}
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write([]byte(id))
}

// serveJob returns the status of a job.
func (a *AIStore) serveJob(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		ID string `json:"ID"`
	}
	_ = json.NewDecoder(r.Body).Decode(&ask)
	a.mu.Lock()
	defer a.mu.Unlock()
	job := a.jobs[ask.ID]
	if job == nil {
		aisError(w, r, http.StatusNotFound, "job %q does not exist", ask.ID)
		return
	}
	status := map[string]any{"uuid": ask.ID, "err": "", "end_time": 0, "aborted": false}
	if job.polls--; job.polls < 0 {
		job.do()
		job.do = func() {}
		status["end_time"] = 1
	}
	aisJSON(w, status)
}
