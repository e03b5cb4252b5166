package ais

import (
	"context"
	"net/http"
	"strings"
	"time"

	"warp/pkg/store"
)

// A selection contains the objects of a job. An empty one would select the whole bucket.
type selection struct {
	Names    []string `json:"objnames"`
	Template string   `json:"template"`
}

// removeMany makes the cluster remove objects, and waits until it is done. Missing objects count as
// removed.
func (e *Engine) removeMany(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	names := make([]string, len(refs))
	for i := range refs {
		if !validKey(refs[i].Key) {
			return store.Errorf("RequestFailed", 0, "%.60q is not a valid object name", refs[i].Key)
		}
		names[i] = refs[i].Key
	}
	job, err := e.startRemoval(ctx, refs[0].Bucket, names, tr)
	if err != nil {
		return err
	}
	return e.await(ctx, job, tr)
}

// startRemoval starts a job that removes objects, and returns its id.
func (e *Engine) startRemoval(ctx context.Context, bucket string, names []string, tr *store.Trace) (job string, err error) {
	r := e.toBucket(http.MethodDelete, bucket)
	defer r.End()
	r.JSON(action{Action: "delete-listrange", Value: selection{Names: names}})
	reply, err := e.send(ctx, r, "", tr)
	if err != nil {
		return "", err
	}
	job = strings.Trim(strings.TrimSpace(string(reply.Document())), `"`)
	if job == "" || len(job) > 100 {
		return "", store.BadAnswer(reply.Status, "the store started a job of %d deletions, but does not say which", len(names))
	}
	return job, nil
}

// Intervals of requests for the status of a job.
const (
	firstPause = 2 * time.Millisecond
	maxPause   = 200 * time.Millisecond
)

// await waits for the end of a job.
func (e *Engine) await(ctx context.Context, job string, tr *store.Trace) error {
	limit := time.NewTimer(e.opts.StallTimeout())
	defer limit.Stop()
	tr.NoWireTime() // the pauses are neither the client's nor the wire's
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		next := tr.Next()
		s, err := e.jobStatus(ctx, job, next)
		tr.Add(next)
		switch {
		case err != nil:
			return err
		case s.Aborted || s.Err != "":
			return store.Errorf(store.CodePartial, int(tr.Status()), "the job of the deletions failed: %s", store.OneLine(s.Err))
		case s.Ended != 0:
			return nil
		}
		select {
		case <-time.After(pause):
		case <-limit.C:
			return store.Errorf(store.CodeAnswerTimeout, int(tr.Status()), "the job of the deletions did not end within %v", e.opts.StallTimeout())
		case <-ctx.Done():
			return store.AsError(ctx.Err(), int(tr.Status()))
		}
	}
}

// A jobStatus is the status of a job.
type jobStatus struct {
	Err     string `json:"err"`
	Ended   int64  `json:"end_time"`
	Aborted bool   `json:"aborted"`
}

// jobStatus requests the status of a job. A job that the cluster does not know yet has just begun.
func (e *Engine) jobStatus(ctx context.Context, job string, tr *store.Trace) (s jobStatus, err error) {
	r := e.request(http.MethodGet, clusterPath)
	defer r.End()
	r.Query("what=status")
	r.JSON(map[string]string{"ID": job})
	reply, err := e.client.Do(ctx, r, tr)
	if err != nil {
		return s, err
	}
	switch {
	case reply.Status == http.StatusNotFound:
		return s, nil
	case reply.Status/100 != 2:
		return s, refusal(reply, "")
	}
	err = reply.DecodeJSON("a job", &s)
	return s, err
}
