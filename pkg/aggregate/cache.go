package aggregate

import (
	"fmt"

	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/workload"
	"warp/pkg/workload/accesslog"
)

// addCache adds to the report which share of the downloads a cache could have served. All requests of the log use the cache, and
// downloads that started in a window of the report count.
func (o *Options) addCache(log Log, r *results.Report) error {
	if h := log.Header(); h.HasVersions() {
		r.Warnings = append(r.Warnings, "--cache: the log does not say which versions of the objects were downloaded, so nothing is known about a cache.")
		return nil
	}
	c := workload.NewCacheCounter(o.Cache)
	_, err := o.read(log, ignoreDecisions, func(batch []oplog.Record) error {
		for i := range batch {
			request := accesslog.FromRow(&batch[i])
			request.Before = !inWindow(r, &batch[i])
			c.Add(&request)
			if end, ok := accesslog.Completed(&batch[i]); ok {
				c.Add(&end)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	result, late := c.Result()
	if late > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s so long that the cache counts %s a little late.", human.Count(late, "request took", "requests took"), human.Choose(late, "it", "them")))
	}
	if result.Total.Requests == 0 {
		r.Warnings = append(r.Warnings, "--cache: no download in the window names its object, so nothing is known about a cache.")
		return nil
	}
	x := result.Caches[0]
	r.Cache = &results.Cache{Size: x.Size, Requests: result.Total.Requests, Bytes: result.Total.Bytes, Objects: result.Objects, Sampled: result.Sampled,
		FirstRequests: result.First.Requests, RequestsShare: x.Requests.Share, RequestsError: x.Requests.Error, BytesShare: x.Bytes.Share, BytesError: x.Bytes.Error}
	return nil
}

// inWindow reports whether a request started in the window of a group, other than the preparation.
func inWindow(r *results.Report, row *oplog.Record) bool {
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Kind != results.KindPreparation && !g.WindowStart.IsZero() && row.Place(g.WindowStart.UnixNano(), g.WindowEnd.UnixNano()) == oplog.InWindow {
			return true
		}
	}
	return false
}
