package bench

import (
	"context"
	"net/http"
	"strings"
	"time"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// tryOptions uploads one small object with the options of uploads, if there are any.
// If a store refused them every request of the run would fail; if it ignored them
// the run would measure something else.
func (e *Env) tryOptions(ctx context.Context, op Op) error {
	o := e.Client.Options()
	options := uploadOptions(o)
	if len(options) == 0 {
		return nil
	}
	return feature("uploads with "+strings.Join(options, ", ")).probe(ctx, e, func(h *store.Host, ref store.Ref) error {
		if err := e.uploadTrial(ctx, h, ref, op); err != nil {
			return err
		}
		if o.Encryption.Kind != store.NoEncryption {
			if _, err := h.Get(ctx, store.Get{Ref: ref}, store.NewTrace(time.Now())); err != nil {
				return err
			}
		}
		if len(o.Tags) > 0 {
			if err := hasTags(ctx, h, ref, len(o.Tags)); err != nil {
				return err
			}
		}
		shown, err := e.Client.HeadersOf(ctx, ref)
		if err != nil {
			return err
		}
		return missing(o, shown)
	})
}

// uploadOptions describes the options of uploads that are set.
func uploadOptions(o *store.Options) (all []string) {
	add := func(given bool, words string) {
		if given {
			all = append(all, words)
		}
	}
	kind := "encryption (" + string(o.Encryption.Kind) + ")"
	if o.Encryption.KeyID != "" {
		kind = "encryption (SSE-KMS, key " + o.Encryption.KeyID + ")"
	}
	add(o.Encryption.Kind != store.NoEncryption, kind)
	add(o.StorageClass != "", "storage class "+o.StorageClass)
	add(o.Checksum != store.NoChecksum, "the checksum "+string(o.Checksum))
	add(o.MD5, "a Content-MD5")
	add(len(o.Metadata) > 0, "metadata")
	add(len(o.Tags) > 0, "tags")
	return all
}

// uploadTrial uploads a small object, in parts if op uploads in parts.
func (e *Env) uploadTrial(ctx context.Context, h *store.Host, ref store.Ref, op Op) error {
	const size = 1000
	body := e.workers[0].body
	body.Reset(generator.PayloadID(ref.Key), size)
	put := e.workers[0].putOf(ref.Key, size)
	if _, ok := op.(partUploader); !ok {
		_, err := h.Put(ctx, put, store.NewTrace(time.Now()))
		return err
	}
	u, err := h.StartUpload(ctx, put, store.NewTrace(time.Now()))
	if err != nil {
		return err
	}
	part, err := h.PutPart(ctx, store.PutPart{Upload: u, Number: 1, Body: body, Size: size}, store.NewTrace(time.Now()))
	if err == nil {
		_, err = h.CompleteUpload(ctx, u, []store.Part{part}, store.NewTrace(time.Now()))
	}
	if err != nil {
		_ = h.AbortUpload(ctx, u, store.NewTrace(time.Now())) // err says more
	}
	return err
}

// hasTags checks that the object has n tags. It passes if the credentials may not
// read tags.
func hasTags(ctx context.Context, h *store.Host, ref store.Ref, n int) error {
	got, err := h.Tags(ctx, ref, store.NewTrace(time.Now()))
	switch {
	case store.CodeOf(err) == "AccessDenied":
		return nil
	case err != nil:
		return err
	case len(got) < n:
		return noEffect("the object has no tags")
	}
	return nil
}

// missing returns an error if the headers of an object lack an option. It ignores
// checksums, since a store may check them without keeping them, and the class
// STANDARD, which no header means as well.
func missing(o *store.Options, shown http.Header) error {
	header := "X-Amz-Server-Side-Encryption"
	if o.Encryption.Kind == store.SSEC {
		header += "-Customer-Algorithm"
	}
	if o.Encryption.Kind != store.NoEncryption && shown.Get(header) == "" {
		return noEffect("the object is not encrypted")
	}
	if class := o.StorageClass; class != "" && class != "STANDARD" && shown.Get("X-Amz-Storage-Class") != class {
		return noEffect("the object is not of the class " + class)
	}
	for i := range o.Metadata {
		a := &o.Metadata[i]
		empty := a.Value == "" && a.Random == 0 // which need not be shown
		if !empty && shown.Get("X-Amz-Meta-"+a.Key) == "" {
			return noEffect("the object has no metadata " + a.Key)
		}
	}
	return nil
}
