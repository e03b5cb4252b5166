package standin

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

var etlName = regexp.MustCompile(`^[a-z0-9][-a-z0-9]{4,30}[a-z0-9]$`)

// serveETL answers requests about transformations. A cluster that is not on Kubernetes has none. It
// simulates two containers: one with md5 in the name of its image replaces an object by its MD5,
// and any other does not change it.
func (a *AIStore) serveETL(w http.ResponseWriter, r *http.Request, words []string) {
	if !a.opts.Kubernetes {
		aisError(w, r, http.StatusBadRequest, "the operation requires Kubernetes")
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Method == http.MethodPut && len(words) == 0 {
		a.startETL(w, r)
		return
	}
	if len(words) == 0 {
		all := []map[string]any{}
		for name := range a.transforms {
			all = append(all, map[string]any{"id": name, "stage": "Running"})
		}
		aisJSON(w, all)
		return
	}
	what, ok := a.transforms[words[0]]
	switch {
	case !ok:
		aisError(w, r, http.StatusNotFound, "etl job %q does not exist", words[0])
	case r.Method == http.MethodPost && len(words) == 2 && words[1] == "stop":
		a.transforms[words[0]] = "stopped"
	case r.Method == http.MethodDelete && len(words) == 1 && what == "stopped":
		delete(a.transforms, words[0])
	default:
		aisError(w, r, http.StatusBadRequest, "etl job %q: %s is not possible", words[0], r.Method)
	}
}

func (a *AIStore) startETL(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Name          string `json:"name"`
		Communication string `json:"communication"`
		Spec          []byte `json:"spec"`
	}
	err := json.NewDecoder(r.Body).Decode(&ask)
	spec := string(ask.Spec)
	switch {
	case err != nil || !etlName.MatchString(ask.Name) || !strings.Contains(spec, "kind: Pod") || !strings.HasSuffix(ask.Communication, "://"):
		aisError(w, r, http.StatusBadRequest, "invalid ETL spec for %q: %v", ask.Name, err)
	case a.transforms[ask.Name] != "":
		aisError(w, r, http.StatusConflict, "etl job %q already exists", ask.Name)
	case strings.Contains(spec, "transformer_md5"):
		a.transforms[ask.Name] = "md5"
	default:
		a.transforms[ask.Name] = "echo"
	}
}
