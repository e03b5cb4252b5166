package oplog_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// A frame that is damaged in the middle of a log is no cut-off log: what
// follows must not be left out in silence.
func TestDamageBeforeMoreFramesIsAnError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w, err := oplog.NewWriter(&log, oplog.Header{Warp: "1", Run: "r"})
	check.OK(t, err)
	var ends []int
	for i := range 5 {
		rec := oplog.Record{Op: "GET", Client: "c", Endpoint: "http://h:1", Key: strings.Repeat("k", i+1), Objects: 1, Bytes: 10, Start: int64(1e18 + i*1000), Duration: 500}
		check.OK(t, errors.Join(w.Write([]oplog.Record{rec, rec, rec}), w.Flush()))
		ends = append(ends, log.Len())
	}
	check.OK(t, w.Close(oplog.Trailer{End: "completed"}))
	for at := ends[1]; at < ends[3]; at++ {
		// A wrong length in the head of a frame can reach beyond so short a file,
		// and then nothing follows.
		inHead := at < ends[1]+20 || at >= ends[2] && at < ends[2]+20
		for bit := range 8 {
			if inHead {
				break
			}
			damaged := bytes.Clone(log.Bytes())
			damaged[at] ^= 1 << bit
			if err := readToEnd(damaged); err == io.EOF {
				t.Errorf("bit %d of byte %d is wrong, and the log reads like a whole one or one that was cut off", bit, at)
			}
		}
		// The same bytes, cut off there, are no error.
		if err := readToEnd(log.Bytes()[:at]); err != io.EOF {
			t.Errorf("cut off at byte %d: %v", at, err)
		}
	}
}

// The same for frames as long as a run writes, which describe their tables.
func TestDamageInLongFramesIsAnError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w, err := oplog.NewWriter(&log, oplog.Header{Warp: "1", Run: "r"})
	check.OK(t, err)
	records := testlog.Downloads(900)
	for i := range records {
		records[i].Run = "r"
	}
	all := records
	var ends []int
	for len(records) > 0 {
		check.OK(t, errors.Join(w.Write(records[:300]), w.Flush()))
		records, ends = records[300:], append(ends, log.Len())
	}
	check.OK(t, w.Close(oplog.Trailer{End: "completed"}))
	const frameHead = 20 // of a frame and its first block; a wrong length there can reach beyond the file
	for at := ends[0] + frameHead; at < ends[1]; at += 1 + (at-ends[0])/64 {
		bit := at % 8
		damaged := bytes.Clone(log.Bytes())
		damaged[at] ^= 1 << bit
		// A table may say something else about what is not used. The frame has a checksum.
		if _, got, err := testlog.Decode(damaged, 100); err == nil && !slices.Equal(got, all) {
			t.Errorf("bit %d of byte %d of the frame is wrong, and the log reads like a whole one or one that was cut off", bit, at-ends[0])
		}
	}
}

func readToEnd(log []byte) error {
	r, err := oplog.NewReader(bytes.NewReader(log), "log")
	if err != nil {
		return err
	}
	defer r.Close()
	batch := make([]oplog.Record, 64)
	for {
		if _, err := r.Read(batch); err != nil {
			return err
		}
	}
}
