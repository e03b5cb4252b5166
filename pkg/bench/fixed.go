package bench

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"warp/pkg/store"
)

// A fixedObject is an object that a person named. Its name does not tell that
// it is warp's, so the object carries the run's id in its metadata, and nothing
// that lacks it is ever removed.
type fixedObject struct {
	Key    string `json:"key"`
	Upload string `json:"upload,omitempty"` // id of the upload in parts that is to make it
}

// runMetadata is the metadata that says which run wrote an object.
const runMetadata = "warp-run"

// fixedKey is the name of the run's fixed object, "" where it has none. Clients
// that share a seed have an object each.
func (o *Options) fixedKey() string {
	if o.ObjectName == "" {
		return ""
	}
	key := joinPrefix(o.Prefix, o.ObjectName)
	if o.Clients > 1 {
		key = fmt.Sprintf("%s.%d", key, o.Client)
	}
	return key
}

// takeFixed makes sure that the name is free, the markers of others being
// read after ours was written. A name that nobody asked for gives way.
func (r *Runner) takeFixed(ctx context.Context, others []foundMarker) error {
	l := r.lease
	if l.marker.Fixed == nil {
		return nil
	}
	for _, m := range others {
		if m.Fixed == nil || m.Fixed.Key != l.marker.Fixed.Key {
			continue
		}
		switch {
		case m.kept():
			return fmt.Errorf("run %s kept %s: choose another --obj.name", m.Run, m.Fixed.Key)
		case m.expired() && r.Options.NoClear:
			return fmt.Errorf("run %s left %s, which --noclear leaves alone: choose another --obj.name", m.Run, m.Fixed.Key)
		case m.expired():
			continue // what it left was removed, or is found below
		case r.Options.ObjectNameGiven:
			return fmt.Errorf("run %s uses %s at this moment: choose another --obj.name, or wait for it to end", m.Run, m.Fixed.Key)
		}
		if err := r.giveWay(ctx, "run "+m.Run+" uses"); err != nil {
			return err
		}
		break
	}
	uploads, err := r.uploadsOf(ctx, l.marker.Fixed.Key)
	switch {
	case err != nil:
		return err
	case len(uploads) > 0 && r.Options.ObjectNameGiven:
		return fmt.Errorf("somebody uploads %s in parts at this moment, or has given that up: choose another --obj.name", l.marker.Fixed.Key)
	case len(uploads) > 0:
		if err := r.giveWay(ctx, "somebody uploads"); err != nil {
			return err
		}
	}
	return r.refuseFixed(ctx)
}

// giveWay gives the object of this run another name, since somebody has the one that nobody asked for.
func (r *Runner) giveWay(ctx context.Context, who string) error {
	l := r.lease
	key := l.marker.Fixed.Key + "." + l.marker.Run
	r.Progress.Warn(fmt.Sprintf("%s %s at this moment, so the object of this run is %s", who, l.marker.Fixed.Key, key))
	if err := l.change(ctx, func(m *marker) { m.Fixed = &fixedObject{Key: key} }); err != nil {
		return fmt.Errorf("write this run's marker to bucket %s: %w", r.Options.Bucket, err)
	}
	return nil
}

// uploadsOf are the uploads in parts of that name. Some stores end them when an object of the name is written or removed.
func (r *Runner) uploadsOf(ctx context.Context, key string) ([]string, error) {
	ids, err := r.Client.UploadsOf(ctx, r.Options.Bucket, key)
	switch {
	case store.CodeOf(err) == "AccessDenied":
		return nil, nil // few need this right, and stores that know rights keep uploads and objects apart
	case err != nil:
		return nil, fmt.Errorf("look for uploads of %s: %w", key, err)
	}
	return ids, nil
}

// refuseFixed ends a run whose object would take the place of another, be that
// an old version or hidden by a delete marker.
func (r *Runner) refuseFixed(ctx context.Context) error {
	key, found := r.lease.marker.Fixed.Key, false
	err := r.fixedVersions(ctx, key, func(store.Object) { found = true })
	if err != nil {
		return fmt.Errorf("look whether %s exists: %w", key, err)
	}
	if found {
		return fmt.Errorf("%s exists in bucket %s and no run of warp answers for it: choose another --obj.name", key, r.Options.Bucket)
	}
	return nil
}

// fixedVersions calls each for everything that has exactly this name.
func (r *Runner) fixedVersions(ctx context.Context, key string, each func(store.Object)) error {
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err != nil {
		return err
	}
	var found []store.Object
	l := store.List{Bucket: r.Options.Bucket, Prefix: key, Versions: state != ""}
	err = r.Client.List(ctx, l, func() { found = nil }, func(o store.Object) bool {
		if o.Key == key {
			found = append(found, o)
		}
		return o.Key == key // names are in order, and this is the first
	})
	for _, o := range found {
		each(o)
	}
	return err
}

// ownFixed finds the fixed object of the run that m marks, in all versions that this run has written.
func (r *Runner) ownFixed(ctx context.Context, m *marker) (own []store.Object, err error) {
	if m.Fixed == nil {
		return nil, nil
	}
	var there []store.Object
	err = r.fixedVersions(ctx, m.Fixed.Key, func(o store.Object) {
		if !o.DeleteMarker { // which warp makes none of
			there = append(there, o)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, o := range there {
		run, err := r.runOf(ctx, o.Ref)
		switch {
		case store.CodeOf(err) == "NoSuchKey":
		case err != nil:
			return nil, fmt.Errorf("look whose %s is: %w", o.Key, err)
		case run == m.Run:
			own = append(own, o)
		}
	}
	return own, nil
}

// runOf is the run that wrote an object, by what the object itself says; "" where it does not. Where its metadata are
// encrypted a tag says it.
func (r *Runner) runOf(ctx context.Context, ref store.Ref) (string, error) {
	run, err := r.Client.Metadata(ctx, ref, runMetadata)
	if !store.Sealed(err) {
		return run, err
	}
	tagged, failed := r.Client.Tag(ctx, ref, runMetadata)
	switch {
	case failed != nil:
		return "", err
	case tagged == "":
		r.Progress.Warn(fmt.Sprintf("%s is encrypted and does not say whose it is, so it stays", ref.Key))
	}
	return tagged, nil
}

// removeFixed removes the object of the run that m marks, and what was being
// uploaded. First the upload, so that it cannot be completed any more.
func (r *Runner) removeFixed(ctx context.Context, m *marker, own bool) error {
	if m.Fixed != nil && m.Fixed.Upload != "" {
		if err := r.abortFixed(ctx, m, own); err != nil {
			return fmt.Errorf("abort the upload of %s: %w", m.Fixed.Key, err)
		}
	}
	found, err := r.ownFixed(ctx, m)
	if err != nil || len(found) == 0 {
		return err
	}
	uploads, err := r.uploadsOf(ctx, m.Fixed.Key)
	if err != nil {
		return err
	}
	if len(uploads) > 0 {
		return fmt.Errorf("somebody uploads %s in parts at this moment, which some stores would end if it was removed", m.Fixed.Key)
	}
	for _, o := range found {
		if err := r.Client.Delete(ctx, []store.Ref{o.Ref}); err != nil {
			return fmt.Errorf("remove %s: %w", o.Key, err)
		}
		r.removed.Add(1)
		r.Progress.Add(1)
	}
	return nil
}

// abortFixed ends the upload that m names. Of another run's marker, which anybody may have written, that is not enough:
// the upload itself has to say that it is that run's.
func (r *Runner) abortFixed(ctx context.Context, m *marker, own bool) error {
	u := store.Upload{Ref: store.Ref{Bucket: r.Options.Bucket, Key: m.Fixed.Key}, ID: m.Fixed.Upload}
	if own {
		return r.Client.AbortUpload(ctx, u)
	}
	part, ok, err := r.Client.LastPart(ctx, u)
	switch {
	case store.CodeOf(err) == "NoSuchUpload", store.CodeOf(err) == "NoSuchKey":
		return nil // it was completed, or is gone
	case err != nil:
		return err
	}
	proof := uploadProof(m.Run)
	if sum := md5.Sum(proof); !ok || part.Size != int64(len(proof)) || part.ETag != hex.EncodeToString(sum[:]) {
		r.Progress.Warn(fmt.Sprintf("the upload of %s that the marker of run %s names does not say that it is that run's, so it stays", m.Fixed.Key, m.Run))
		return nil
	}
	return r.Client.AbortUpload(ctx, u)
}

// uploadProof is the content of the part by which an upload says whose it is. It has the highest number, and does not
// become part of the object.
func uploadProof(run string) []byte { return []byte("this upload in parts is that of warp run " + run) }

// A fixedUpload is the upload in parts that makes the run's fixed object.
type fixedUpload struct {
	store.Upload
	env *Env
}

// startFixed begins the upload, and notes it in the marker before the first
// part is sent, so that a later run can abort it if this one is killed.
func (e *Env) startFixed(ctx context.Context) (*fixedUpload, error) {
	ref := store.Ref{Bucket: e.Bucket, Key: e.lease.marker.Fixed.Key}
	var u store.Upload
	err := e.workers[0].must(ctx, "begin the upload of "+ref.Key, func() error {
		return e.Client.Use(func(h *store.Host) (err error) {
			u, err = e.beginFixed(ctx, h, ref)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	u.IfAbsent = true
	// Not cut off by an interrupt, or nobody would know of the upload.
	err = e.lease.change(context.WithoutCancel(ctx), func(m *marker) { m.Fixed = &fixedObject{ref.Key, u.ID} })
	if err != nil {
		return nil, err
	}
	if err = e.prove(ctx, u); err == nil {
		err = e.aloneAt(ctx, u)
	}
	return &fixedUpload{u, e}, err
}

// beginFixed begins the upload with the run's id in metadata, and in a tag as well where metadata are encrypted under a
// key that a later run will not have. A store that refuses tags does without.
func (e *Env) beginFixed(ctx context.Context, h *store.Host, ref store.Ref) (store.Upload, error) {
	run := e.lease.marker.Run
	put := store.Put{Ref: ref, ContentType: "application/octet-stream",
		Headers: []store.Header{{Name: "x-amz-meta-" + runMetadata, Value: run}}}
	if e.Client.Options().Encryption.Kind == store.SSEC {
		put.Tags = map[string]string{runMetadata: run}
	}
	u, err := h.StartUpload(ctx, put, store.NewTrace(time.Now()))
	var said *store.Error
	if put.Tags != nil && errors.As(err, &said) && said.Status >= 400 && !store.Repeatable(err) {
		put.Tags = nil
		return h.StartUpload(ctx, put, store.NewTrace(time.Now()))
	}
	return u, err
}

// prove uploads the part that says whose the upload is.
func (e *Env) prove(ctx context.Context, u store.Upload) error {
	proof := uploadProof(e.lease.marker.Run)
	return e.workers[0].must(ctx, "mark the upload of "+u.Key, func() error {
		return e.Client.Use(func(h *store.Host) error {
			part := store.PutPart{Upload: u, Number: store.MaxPart, Body: bytes.NewReader(proof), Size: int64(len(proof))}
			_, err := h.PutPart(ctx, part, store.NewTrace(time.Now()))
			return err
		})
	})
}

// aloneAt makes sure that nobody has begun to upload the same name since it was found to be free.
func (e *Env) aloneAt(ctx context.Context, u store.Upload) error {
	uploads, err := e.Client.UploadsOf(ctx, u.Bucket, u.Key)
	switch {
	case store.CodeOf(err) == "AccessDenied":
		return nil
	case err != nil:
		return fmt.Errorf("look for uploads of %s: %w", u.Key, err)
	case slices.ContainsFunc(uploads, func(id string) bool { return id != u.ID }):
		return fmt.Errorf("somebody else has begun to upload %s: choose another --obj.name", u.Key)
	}
	return nil
}

// complete makes the object, unless there is one of that name by now.
func (u *fixedUpload) complete(ctx context.Context, parts []store.Part) (o store.Object, err error) {
	err = u.env.workers[0].must(ctx, "complete the upload of "+u.Key, func() error {
		return u.env.Client.Use(func(h *store.Host) error {
			o, err = u.completeAt(ctx, h, parts)
			return err
		})
	})
	return o, err
}

func (u *fixedUpload) completeAt(ctx context.Context, h *store.Host, parts []store.Part) (store.Object, error) {
	o, err := h.CompleteUpload(ctx, u.Upload, parts, store.NewTrace(time.Now()))
	var said *store.Error
	if err == nil || !errors.As(err, &said) {
		return o, err
	}
	// An answer that was lost looks like an object in the way, or like no upload.
	if run, seen := u.env.Client.Metadata(ctx, u.Ref, runMetadata); seen == nil && run == u.env.lease.marker.Run {
		return h.Stat(ctx, u.Ref, store.NewTrace(time.Now()))
	}
	if said.Status == 412 || said.Status == 409 {
		return o, fmt.Errorf("something else has written %s meanwhile: choose another --obj.name", u.Key)
	}
	return o, err
}
