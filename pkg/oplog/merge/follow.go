package merge

import (
	"errors"
	"io"

	"warp/pkg/oplog"
)

// followBatch is the max number of rows per batch.
const followBatch = 512

// Follow calls f with the rows of one client's log, which may still be written. It waits in r for
// the next row, but only while it has none. The batch is valid until f returns. Times and threads
// are as in [Logs] if the client's threads begin at offset.
func Follow(r io.Reader, name string, offset uint32, f func([]oplog.Record) error) error {
	log, err := oplog.NewReader(r, name)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	log.Prompt = true
	shift, err := clockShiftOf(log.Header(), name)
	if err != nil {
		return err
	}
	batch := make([]oplog.Record, followBatch)
	for {
		n, err := log.Read(batch)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range batch[:n] {
			if err := shift.apply(&batch[i]); err != nil {
				return err
			}
			batch[i].Thread += offset
		}
		if err := f(batch[:n]); err != nil {
			return err
		}
	}
}
