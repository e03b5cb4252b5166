package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"warp/pkg/s3"
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
		key := l.marker.Fixed.Key + "." + l.marker.Run
		r.Progress.Warn(fmt.Sprintf("run %s uses %s at this moment, so the object of this run is %s", m.Run, m.Fixed.Key, key))
		if err := l.change(ctx, func(m *marker) { m.Fixed = &fixedObject{Key: key} }); err != nil {
			return fmt.Errorf("write this run's marker to bucket %s: %w", r.Options.Bucket, err)
		}
		break
	}
	return r.refuseFixed(ctx)
}

// refuseFixed ends a run whose object would take the place of another, be that
// an old version or hidden by a delete marker.
func (r *Runner) refuseFixed(ctx context.Context) error {
	key, found := r.lease.marker.Fixed.Key, false
	err := r.fixedVersions(ctx, key, func(s3.Object) { found = true })
	if err != nil {
		return fmt.Errorf("look whether %s exists: %w", key, err)
	}
	if found {
		return fmt.Errorf("%s exists in bucket %s and no run of warp answers for it: choose another --obj.name", key, r.Options.Bucket)
	}
	return nil
}

// fixedVersions calls each for everything that has exactly this name.
func (r *Runner) fixedVersions(ctx context.Context, key string, each func(s3.Object)) error {
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err != nil {
		return err
	}
	var found []s3.Object
	l := s3.List{Bucket: r.Options.Bucket, Prefix: key, Versions: state != ""}
	err = r.Client.List(ctx, l, func() { found = nil }, func(o s3.Object) bool {
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
func (r *Runner) ownFixed(ctx context.Context, m *marker) (own []s3.Object, err error) {
	if m.Fixed == nil {
		return nil, nil
	}
	var there []s3.Object
	err = r.fixedVersions(ctx, m.Fixed.Key, func(o s3.Object) {
		if !o.DeleteMarker { // which warp makes none of
			there = append(there, o)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, o := range there {
		run, err := r.Client.Metadata(ctx, o.Ref, runMetadata)
		switch {
		case s3.CodeOf(err) == "NoSuchKey":
		case err != nil:
			return nil, fmt.Errorf("look whose %s is: %w", o.Key, err)
		case run == m.Run:
			own = append(own, o)
		}
	}
	return own, nil
}

// removeFixed removes the object of the run that m marks, and what was being
// uploaded. First the upload, so that it cannot be completed any more.
func (r *Runner) removeFixed(ctx context.Context, m *marker) error {
	if m.Fixed != nil && m.Fixed.Upload != "" {
		ref := s3.Ref{Bucket: r.Options.Bucket, Key: m.Fixed.Key}
		if err := r.Client.AbortUpload(ctx, s3.Upload{Ref: ref, ID: m.Fixed.Upload}); err != nil {
			return fmt.Errorf("abort the upload of %s: %w", ref.Key, err)
		}
	}
	own, err := r.ownFixed(ctx, m)
	if err != nil {
		return err
	}
	for _, o := range own {
		if err := r.Client.Delete(ctx, []s3.Ref{o.Ref}); err != nil {
			return fmt.Errorf("remove %s: %w", o.Key, err)
		}
		r.Progress.Add(1)
	}
	return nil
}

// A fixedUpload is the upload in parts that makes the run's fixed object.
type fixedUpload struct {
	s3.Upload
	env *Env
}

// startFixed begins the upload, and notes it in the marker before the first
// part is sent, so that a later run can abort it if this one is killed.
func (e *Env) startFixed(ctx context.Context) (*fixedUpload, error) {
	ref := s3.Ref{Bucket: e.Bucket, Key: e.lease.marker.Fixed.Key}
	put := s3.Put{Ref: ref, ContentType: "application/octet-stream",
		Headers: []s3.Header{{Name: "x-amz-meta-" + runMetadata, Value: e.lease.marker.Run}}}
	var u s3.Upload
	err := e.workers[0].must(ctx, "begin the upload of "+ref.Key, func() error {
		return e.Client.Use(func(h *s3.Host) (err error) {
			u, err = h.StartUpload(ctx, put, s3.NewTrace(time.Now()))
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	u.IfAbsent = true
	// Not cut off by an interrupt, or nobody would know of the upload.
	err = e.lease.change(context.WithoutCancel(ctx), func(m *marker) { m.Fixed = &fixedObject{ref.Key, u.ID} })
	return &fixedUpload{u, e}, err
}

// complete makes the object, unless there is one of that name by now.
func (u *fixedUpload) complete(ctx context.Context, parts []s3.Part) (o s3.Object, err error) {
	err = u.env.workers[0].must(ctx, "complete the upload of "+u.Key, func() error {
		return u.env.Client.Use(func(h *s3.Host) error {
			o, err = u.completeAt(ctx, h, parts)
			return err
		})
	})
	return o, err
}

func (u *fixedUpload) completeAt(ctx context.Context, h *s3.Host, parts []s3.Part) (s3.Object, error) {
	o, err := h.CompleteUpload(ctx, u.Upload, parts, s3.NewTrace(time.Now()))
	var said *s3.Error
	if err == nil || !errors.As(err, &said) {
		return o, err
	}
	// An answer that was lost looks like an object in the way, or like no upload.
	if run, seen := u.env.Client.Metadata(ctx, u.Ref, runMetadata); seen == nil && run == u.env.lease.marker.Run {
		return h.Stat(ctx, u.Ref, s3.NewTrace(time.Now()))
	}
	if said.Status == 412 || said.Status == 409 {
		return o, fmt.Errorf("something else has written %s meanwhile: choose another --obj.name", u.Key)
	}
	return o, err
}
