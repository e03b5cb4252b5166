package aggregate

import (
	"strings"

	"warp/pkg/oplog"
)

// Rows calls f with the rows of a log that Op, Host, Offset and Limit select.
func (o *Options) Rows(log Log, f func(*oplog.Record) error) error {
	ops, hosts, wanted := map[string]bool{}, map[string]bool{}, map[string]bool{}
	found := o.Op == "" && o.Host == ""
	_, err := o.read(log, ignoreDecisions, func(batch []oplog.Record) error {
		for i := range batch {
			r := &batch[i]
			if o.Op != "" && !strings.EqualFold(r.Op, o.Op) {
				note(ops, r.Op)
				continue
			}
			if o.Host != "" && !wanted[r.Endpoint] {
				if !sameHost(r.Endpoint, o.Host) {
					note(hosts, r.Endpoint)
					continue
				}
				note(wanted, r.Endpoint)
			}
			found = true
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil || found:
		return err
	case len(hosts) > 0:
		return o.noHost(hosts)
	case len(ops) > 0:
		return o.noOp(ops)
	}
	return nil
}

// maxNoted limits the names in an error message.
const maxNoted = 64

// note records a name.
func note(names map[string]bool, name string) {
	if !names[name] && len(names) < maxNoted {
		names[strings.Clone(name)] = true
	}
}
