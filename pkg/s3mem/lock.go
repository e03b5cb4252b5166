package s3mem

import (
	"encoding/xml"
	"net/http"
	"time"
)

// A retention locks a version until a time. The zero retention locks nothing.
type retention struct {
	compliance bool
	until      time.Time
}

const (
	governanceMode = "GOVERNANCE"
	complianceMode = "COMPLIANCE"
	codeLocked     = "AccessDenied"
)

var errLocked = &refusal{http.StatusForbidden, codeLocked, "The version is locked."}

// prevents reports whether the lock prevents a deletion, or a shorter lock.
func (l retention) prevents(bypass bool) bool {
	return time.Now().Before(l.until) && (l.compliance || !bypass)
}

// retentionDocument is the document of PutObjectRetention and GetObjectRetention.
type retentionDocument struct {
	XMLName         xml.Name `xml:"Retention"`
	Xmlns           string   `xml:"xmlns,attr,omitempty"`
	Mode            string   `xml:",omitempty"`
	RetainUntilDate string   `xml:",omitempty"`
}

// retention answers PUT and GET of a version's lock.
func (e *Embedded) retention(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet {
		o, err := e.backend.lookupVersion(target(r))
		if err != nil {
			return err
		}
		l := o.lock()
		if l.until.IsZero() {
			return &refusal{http.StatusNotFound, "NoSuchObjectLockConfiguration", "The version has no lock."}
		}
		d := retentionDocument{Xmlns: namespace, Mode: governanceMode, RetainUntilDate: timestamp(l.until)}
		if l.compliance {
			d.Mode = complianceMode
		}
		return respond(w, d)
	}
	wanted, err := readRetention(r)
	if err != nil {
		return err
	}
	return e.backend.update(r, func(bk *bucket, o *object, x *extra) error {
		if !bk.locks {
			return &refusal{http.StatusBadRequest, "InvalidRequest", "The bucket has no object lock."}
		}
		weaker := wanted.until.Before(o.lock().until) || o.lock().compliance && !wanted.compliance
		if weaker && o.lock().prevents(r.Header.Get(bypassHeader) == "true") {
			return errLocked
		}
		x.lock = wanted
		return nil
	})
}

// readRetention reads the document of a request. An empty one removes the lock.
func readRetention(r *http.Request) (l retention, err error) {
	var d retentionDocument
	if err := xml.NewDecoder(r.Body).Decode(&d); err != nil {
		return l, &refusal{http.StatusBadRequest, "MalformedXML", err.Error()}
	}
	switch d.Mode {
	case "":
		return l, nil
	case complianceMode:
		l.compliance = true
	case governanceMode:
	default:
		return l, &refusal{http.StatusBadRequest, "MalformedXML", "The mode is not valid: " + d.Mode}
	}
	if l.until, err = time.Parse(time.RFC3339, d.RetainUntilDate); err != nil || !time.Now().Before(l.until) {
		return l, &refusal{http.StatusBadRequest, "InvalidArgument", "The retain until date must be in the future."}
	}
	return l, nil
}

// lockConfiguration answers GET of a bucket's object lock.
func (e *Embedded) lockConfiguration(w http.ResponseWriter, r *http.Request) error {
	name, _ := split(r)
	bk, err := e.backend.bucket(name)
	if err != nil {
		return err
	}
	bk.mu.RLock()
	defer bk.mu.RUnlock()
	if !bk.locks {
		return &refusal{http.StatusNotFound, "ObjectLockConfigurationNotFoundError", "Object Lock configuration does not exist for this bucket"}
	}
	return respond(w, struct {
		XMLName           xml.Name `xml:"ObjectLockConfiguration"`
		Xmlns             string   `xml:"xmlns,attr"`
		ObjectLockEnabled string
	}{Xmlns: namespace, ObjectLockEnabled: "Enabled"})
}

// lockBucket gives a new bucket object lock, and so versions.
func (b *backend) lockBucket(name string) {
	if bk, err := b.bucket(name); err == nil {
		bk.mu.Lock()
		defer bk.mu.Unlock()
		bk.versioned, bk.locks = true, true
	}
}
