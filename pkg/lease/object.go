package lease

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"warp/pkg/store"
)

// A namedObject is an object whose name a person chose. The name does not show
// that it is warp's, so the object carries the run's id in its metadata, and an
// object without it is never removed.
type namedObject struct {
	Key    string `json:"key"`
	Upload string `json:"upload,omitempty"` // id of its upload in parts

	// Encrypted says that the ETags of its parts are not MD5 sums.
	Encrypted bool `json:"encrypted,omitempty"`
}

// runMetadata is the metadata that says which run wrote an object.
const runMetadata = "warp-run"

// claimObjectKey makes sure that nobody else has the key of the run's named object.
// The markers of others were read after this run's was written. A key that no person
// has chosen is changed if another run has it.
func (l *Lease) claimObjectKey(ctx context.Context, others []foundMarker) error {
	if l.own.marker.Object == nil {
		return nil
	}
	if err := l.yieldToRuns(ctx, others); err != nil {
		return err
	}
	key := l.own.marker.Object.Key
	uploads, err := l.uploadsOf(ctx, key)
	switch {
	case err != nil:
		return err
	case len(uploads) > 0 && l.opts.ObjectKeyChosen:
		return fmt.Errorf("a multipart upload of %s is in progress or was abandoned: choose another --obj.name", key)
	case len(uploads) > 0:
		if err := l.useOtherKey(ctx, "somebody uploads"); err != nil {
			return err
		}
	}
	return l.checkObjectFree(ctx)
}

// yieldToRuns refuses or changes the key if another run has it.
func (l *Lease) yieldToRuns(ctx context.Context, others []foundMarker) error {
	key := l.own.marker.Object.Key
	for _, m := range others {
		if m.Object == nil || m.Object.Key != key {
			continue
		}
		switch {
		case m.kept():
			return fmt.Errorf("run %s kept %s: choose another --obj.name", m.Run, key)
		case m.expired() && l.opts.NoClear:
			return fmt.Errorf("run %s left %s, which --noclear leaves alone: choose another --obj.name", m.Run, key)
		case m.expired():
			continue // its leftovers were removed, or are found below
		case l.opts.ObjectKeyChosen:
			return fmt.Errorf("run %s is using %s: choose another --obj.name, or wait for it to end", m.Run, key)
		}
		return l.useOtherKey(ctx, "run "+m.Run+" uses")
	}
	return nil
}

// useOtherKey gives the object of this run another name.
func (l *Lease) useOtherKey(ctx context.Context, conflict string) error {
	m := &l.own.marker
	key := m.Object.Key + "." + m.Run
	l.progress.Warn(fmt.Sprintf("%s %s at this moment, so the object of this run is %s", conflict, m.Object.Key, key))
	return l.changeOwn(ctx, func(m *marker) { m.Object = &namedObject{Key: key} })
}

// uploadsOf returns the uploads in parts of the key. Some stores end them when an
// object with the key is written or removed.
func (l *Lease) uploadsOf(ctx context.Context, key string) ([]string, error) {
	ids, err := l.store.UploadsOf(ctx, l.bucket, key)
	switch {
	case store.CodeOf(err) == store.CodeDenied:
		return nil, nil // few users have this right, and stores with rights do not end uploads like that
	case err != nil:
		return nil, fmt.Errorf("list the uploads of %s: %w", key, err)
	}
	return ids, nil
}

// checkObjectFree refuses a key that exists, even as an old version or hidden by a
// delete marker.
func (l *Lease) checkObjectFree(ctx context.Context) error {
	key := l.own.marker.Object.Key
	found, err := l.versionsOf(ctx, key)
	if err != nil {
		return fmt.Errorf("check whether %s exists: %w", key, err)
	}
	if len(found) > 0 {
		return fmt.Errorf("%s exists in bucket %s and belongs to no run of warp: choose another --obj.name", key, l.bucket)
	}
	return nil
}

// versionsOf returns all versions and delete markers with exactly this key.
func (l *Lease) versionsOf(ctx context.Context, key string) (found []store.Object, err error) {
	versions, err := l.hasVersions(ctx)
	if err != nil {
		return nil, err
	}
	sorted := l.store.ListsSorted()
	list := store.List{Bucket: l.bucket, Prefix: key, Versions: versions}
	err = l.store.List(ctx, list, func() { found = nil }, func(o store.Object) bool {
		if o.Key == key {
			found = append(found, o)
		}
		return o.Key == key || !sorted // in a sorted listing, this key comes first
	})
	return found, err
}

// findNamedObject finds all versions of the named object that the run marked by m has
// written.
func (l *Lease) findNamedObject(ctx context.Context, m *marker) (own []store.Object, err error) {
	if m.Object == nil {
		return nil, nil
	}
	found, err := l.versionsOf(ctx, m.Object.Key)
	if err != nil {
		return nil, err
	}
	for _, o := range found {
		if o.DeleteMarker { // warp makes none
			continue
		}
		run, err := l.writerOf(ctx, o.Ref)
		switch {
		case store.CodeOf(err) == store.CodeNoKey:
		case err != nil:
			return nil, fmt.Errorf("find the owner of %s: %w", o.Key, err)
		case run == m.Run:
			own = append(own, o)
		}
	}
	return own, nil
}

// writerOf returns the run that wrote an object, according to its metadata, or to a
// tag if these are encrypted. It returns "" if they name no run.
func (l *Lease) writerOf(ctx context.Context, ref store.Ref) (string, error) {
	run, err := l.store.Metadata(ctx, ref, runMetadata)
	if !store.Sealed(err) {
		return run, err
	}
	run, failed := l.store.Tag(ctx, ref, runMetadata)
	switch {
	case failed != nil:
		return "", err
	case run == "":
		l.progress.Warn(fmt.Sprintf("%s is encrypted and does not name the run that wrote it, so it stays", ref.Key))
	}
	return run, nil
}

// removeNamedObject removes the object of the run that m marks, and its upload. The
// upload comes first, so that it cannot be completed any more.
func (l *Lease) removeNamedObject(ctx context.Context, m *marker, own bool) error {
	if m.Object != nil && m.Object.Upload != "" {
		if err := l.abortUpload(ctx, m, own); err != nil {
			return fmt.Errorf("abort the upload of %s: %w", m.Object.Key, err)
		}
	}
	if m.Object != nil && m.Object.Upload == "" && !own {
		if err := l.warnOfUploads(ctx, m); err != nil {
			return err
		}
	}
	found, err := l.findNamedObject(ctx, m)
	if err != nil || len(found) == 0 {
		return err
	}
	uploads, err := l.uploadsOf(ctx, m.Object.Key)
	if err != nil {
		return err
	}
	if len(uploads) > 0 {
		return fmt.Errorf("a multipart upload of %s is in progress, and some stores would end it if the object was removed", m.Object.Key)
	}
	for _, o := range found {
		if err := l.store.Delete(ctx, []store.Ref{o.Ref}); err != nil {
			return fmt.Errorf("remove %s: %w", o.Key, err)
		}
		l.removed.Add(1)
		l.countObjects(1)
	}
	return nil
}

// warnOfUploads warns about unfinished uploads of the named object that m does not
// name. The run may have been killed before it added its upload to the marker.
func (l *Lease) warnOfUploads(ctx context.Context, m *marker) error {
	uploads, err := l.uploadsOf(ctx, m.Object.Key)
	if err == nil && len(uploads) > 0 {
		l.progress.Warn(fmt.Sprintf("an unfinished upload of %s does not prove that it belongs to run %s, so it stays", m.Object.Key, m.Run))
	}
	return err
}

// abortUpload ends the upload that m names. Anybody may have written the marker of
// another run, so the upload itself has to prove that it belongs to that run.
func (l *Lease) abortUpload(ctx context.Context, m *marker, own bool) error {
	u := store.Upload{Ref: store.Ref{Bucket: l.bucket, Key: m.Object.Key}, ID: m.Object.Upload}
	if own {
		return l.store.AbortUpload(ctx, u)
	}
	part, ok, err := l.store.LastPart(ctx, u)
	switch {
	case store.CodeOf(err) == store.CodeNoUpload, store.CodeOf(err) == store.CodeNoKey:
		return nil // it was completed, or is gone
	case err != nil:
		return err
	}
	if !ok || !isProof(part, m) {
		l.progress.Warn(fmt.Sprintf("the upload of %s is named by the marker of run %s, but does not prove that it belongs to run %[2]s, so it stays", m.Object.Key, m.Run))
		return nil
	}
	return l.store.AbortUpload(ctx, u)
}

// uploadProof returns the content of the part that proves which run an upload belongs
// to. The part has the highest number, and does not become part of the object. Its
// size depends on the run too, since stores show nothing else of encrypted parts.
func uploadProof(run string) []byte {
	text := "this upload in parts belongs to warp run " + run
	sum := sha256.Sum256([]byte(text))
	return append([]byte(text), make([]byte, binary.BigEndian.Uint16(sum[:]))...)
}

// isProof reports whether a part has the content of uploadProof for the run that m
// marks, as far as the store shows it.
func isProof(part store.Part, m *marker) bool {
	proof := uploadProof(m.Run)
	sum := md5.Sum(proof)
	return part.Size == int64(len(proof)) && (m.Object.Encrypted || part.ETag == hex.EncodeToString(sum[:]))
}
