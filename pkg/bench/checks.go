package bench

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/generator"
	"warp/pkg/hostload"
	"warp/pkg/store"
)

// otherFiles is the number of open files that are not connections of the load: the log,
// profiles, connections to metric receivers, and files of the runtime.
const otherFiles = 32

// checkFileLimit refuses a run that would run out of files for its connections.
func (r *Runner) checkFileLimit() error {
	hosts := len(r.Client.Endpoints())
	atOnce := 1
	if op, ok := r.Op.(Multiplexer); ok {
		atOnce = op.RequestsAtOnce()
	}
	connections := r.Options.Concurrency * atOnce
	if hosts > 1 {
		connections *= 2 // as many are idle, at other hosts
	}
	return FileLimit(connections+hosts, r.Options.Concurrency, atOnce)
}

// FileLimit returns an error if the process may not have that many connections, of workers with atOnce requests at a time.
func FileLimit(connections, concurrency, atOnce int) error {
	need, limit := uint64(connections+otherFiles), hostload.OpenFiles()
	if limit == 0 || need <= limit {
		return nil
	}
	parts, fewer := "", ""
	if atOnce > 1 {
		parts, fewer = fmt.Sprintf(" with %d parts at a time", atOnce), " or fewer parts at a time"
	}
	return fmt.Errorf("--concurrent=%d%s needs up to %d open files, and this process may have %d: raise that limit (ulimit -n %d), or use a smaller --concurrent%s",
		concurrency, parts, need, limit, need, fewer)
}

// tryHosts sends a request to each host before the run. Otherwise a misspelt host would fail its share of all requests.
// A single host is not asked if the run first opens a bucket there, which fails anyway if the host is dead.
func tryHosts(ctx context.Context, c *store.Client, o *Options, p Progress) error {
	hosts := len(c.Endpoints())
	if hosts == 1 && !o.NoBucket {
		return nil
	}
	dead := c.TryHosts(ctx, o.Bucket)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case len(dead) == 0:
		return nil
	case len(dead) == hosts:
		return &store.UnreachableError{Hosts: c.Endpoints(), Err: fmt.Errorf("%s (%w)", dead[0].Endpoint, dead[0].Err)}
	}
	err := store.DeadHostsError(dead, hosts)
	if !o.AllowDeadHosts {
		return fmt.Errorf("%w: correct --host, or continue without it with --allow-dead-hosts", err)
	}
	p.Warn(err.Error())
	return nil
}

// refusedNotes says how many requests found no connection to a host, if there are several.
func refusedNotes(c *store.Client) (notes []string) {
	if len(c.Endpoints()) == 1 {
		return nil
	}
	refused := c.Refused()
	for _, endpoint := range slices.Sorted(maps.Keys(refused)) {
		notes = append(notes, fmt.Sprintf("%s found no connection to %s, which was then tried less and less often", human.Plural(refused[endpoint], "request"), endpoint))
	}
	return notes
}

// tryOptions uploads one small object with the options of uploads, if there are any.
// If a store refused them every request of the run would fail; if it ignored them
// the run would measure something else.
func (e *Env) tryOptions(ctx context.Context, op Op) error {
	o := e.Client.Options()
	options := uploadOptions(o)
	if len(options) == 0 {
		return nil
	}
	return Feature("uploads with "+strings.Join(options, ", ")).Probe(ctx, e, func(h *store.Host, ref store.Ref) error {
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
	body := e.Workers[0].Body
	body.Reset(generator.PayloadID(ref.Key), size)
	put := e.Workers[0].PutRequest(ref.Key, size)
	if _, ok := op.(PartUploader); !ok {
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
	case store.CodeOf(err) == store.CodeDenied:
		return nil
	case err != nil:
		return err
	case len(got) < n:
		return NoEffect("the object has no tags")
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
		return NoEffect("the object is not encrypted")
	}
	if class := o.StorageClass; class != "" && class != "STANDARD" && shown.Get("X-Amz-Storage-Class") != class {
		return NoEffect("the object is not of the class " + class)
	}
	for i := range o.Metadata {
		a := &o.Metadata[i]
		empty := a.Value == "" && a.Random == 0 // which need not be shown
		if !empty && shown.Get("X-Amz-Meta-"+a.Key) == "" {
			return NoEffect("the object has no metadata " + a.Key)
		}
	}
	return nil
}
