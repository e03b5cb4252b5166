// Package logcopy copies the log of a client to the coordinator while it grows,
// over connections that may break at any time.
//
// The client reads its log with a [Feed], which a [Pump] sends in chunks over
// one connection. The coordinator adds them to a [Spool], whose size says where
// the next connection continues.
package logcopy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	chunkSize     = 32 << 10
	chunkHeadSize = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func chunkHead(offset int64, data []byte) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, chunkHeadSize), uint64(offset))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(data, castagnoli))
}

// A Chunk is an undamaged part of a log.
type Chunk struct {
	offset int64
	data   []byte // of the message
}

// ReadChunk reads and checks a chunk sent by a [Pump]. It is valid as long as
// the message.
func ReadChunk(body []byte) (Chunk, error) {
	if len(body) <= chunkHeadSize || len(body) > chunkHeadSize+chunkSize {
		return Chunk{}, fmt.Errorf("a chunk of the log has %d bytes", len(body))
	}
	c := Chunk{int64(binary.BigEndian.Uint64(body)), body[chunkHeadSize:]}
	if crc32.Checksum(c.data, castagnoli) != binary.BigEndian.Uint32(body[8:]) {
		return Chunk{}, errors.New("a chunk of the log is damaged")
	}
	return c, nil
}

var errAck = errors.New("a message cannot be read: an acknowledgement of nothing")

func readAck(body []byte) (int64, error) {
	if len(body) != 8 {
		return 0, errAck
	}
	return int64(binary.BigEndian.Uint64(body)), nil
}
