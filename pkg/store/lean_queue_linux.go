package store

import (
	"syscall"
	"unsafe"
)

// pieceMost is how many pieces one system call gets: nearly as many as the kernel takes. Pieces of warp's payload are
// 3.5 KiB, of which a socket takes a few hundred to a thousand.
const pieceMost = 1000

// A leanQueue is a payload on its way from where it lies to a socket. Each piece is laid out for the kernel once,
// however many calls it takes.
type leanQueue struct {
	vec      []syscall.Iovec // to be sent next, in room
	body     PieceBody       // and then its content
	off, end int64           // from here to there
	err      error
	room     *leanQueueRoom
}

type leanQueueRoom struct {
	pieces [pieceMost][]byte
	vec    [pieceMost + 1]syscall.Iovec
}

func (q *leanQueue) begin(body PieceBody, off, end int64) {
	q.body, q.off, q.end, q.vec, q.err = body, off, end, nil, nil
}

func (q *leanQueue) empty() bool { return len(q.vec) == 0 && q.off == q.end }

// topUp makes as much ready as one system call gets, behind what is ready already and out, of which it returns what is
// left: nothing.
func (q *leanQueue) topUp(out []byte) []byte {
	if q.off == q.end || len(q.vec) > pieceMost/2 {
		return out
	}
	q.vec = q.room.vec[:copy(q.room.vec[:], q.vec)]
	if len(out) > 0 {
		q.append(out)
	}
	pieces := q.room.pieces[:pieceMost-len(q.vec)]
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

func (q *leanQueue) append(b []byte) {
	v := syscall.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	q.vec = append(q.vec, v)
}

// advance takes n bytes off the front.
func (q *leanQueue) advance(n int) {
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
