package httpclient

import (
	"syscall"
	"unsafe"

	"warp/pkg/store"
)

// maxPieces is the number of pieces per system call, just below the kernel's limit. Pieces of
// warp's payload are 3.5 KiB, and a socket accepts a few hundred to a thousand of them.
const maxPieces = 1000

// A pieceQueue sends a payload from where it is in memory. It prepares each piece for the kernel
// only once, however many calls it takes.
type pieceQueue struct {
	vec      []syscall.Iovec // the next to be sent, in room
	body     store.PieceBody // sent after vec
	off, end int64           // the rest of body
	err      error
	room     *pieceRoom
}

type pieceRoom struct {
	pieces [maxPieces][]byte
	vec    [maxPieces + 1]syscall.Iovec
}

func (q *pieceQueue) begin(body store.PieceBody, off, end int64) {
	q.body, q.off, q.end, q.vec, q.err = body, off, end, nil, nil
}

func (q *pieceQueue) empty() bool { return len(q.vec) == 0 && q.off == q.end }

// topUp fills the queue with as much as one system call can send: out first, then the body. It
// returns the rest of out, which is empty.
func (q *pieceQueue) topUp(out []byte) []byte {
	if q.off == q.end || len(q.vec) > maxPieces/2 {
		return out
	}
	q.vec = q.room.vec[:copy(q.room.vec[:], q.vec)]
	if len(out) > 0 {
		q.append(out)
	}
	pieces := q.room.pieces[:maxPieces-len(q.vec)]
	pieces = pieces[:q.body.Pieces(q.off, pieces)]
	if len(pieces) == 0 {
		q.err = payloadEnds(q.off)
	}
	for _, p := range pieces {
		p = p[:min(int64(len(p)), q.end-q.off)] // the body may be longer than the upload
		if len(p) > 0 {
			q.append(p)
			q.off += int64(len(p))
		}
	}
	return nil
}

func (q *pieceQueue) append(b []byte) {
	v := syscall.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	q.vec = append(q.vec, v)
}

// advance takes n bytes off the front.
func (q *pieceQueue) advance(n int) {
	for n > 0 {
		v := &q.vec[0]
		if left := int(v.Len) - n; left > 0 {
			v.Base = (*byte)(unsafe.Add(unsafe.Pointer(v.Base), n))
			v.SetLen(left)
			return
		}
		n -= int(v.Len)
		q.vec = q.vec[1:]
	}
}
