package fleet

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxControl = 1 << 20 // bytes of a message
	// MaxJob is as large as a job may be: files that flags name are in it.
	MaxJob = 32 << 20
	// silence is how long nothing may arrive on a connection before it counts
	// as broken; both sides speak every second.
	silence   = 5 * time.Second
	writeTime = 5 * time.Second
	// Messages per second that a side may send on average, and at once. Data
	// comes in messages of 32 KiB.
	maxRate  = 4000
	maxBurst = 8000
)

// A channel carries sealed messages. One goroutine may receive while any
// number send.
type channel struct {
	ws *websocket.Conn

	sending sync.Mutex
	seal    cipher.AEAD
	sent    uint64
	out     []byte

	open     cipher.AEAD
	received uint64
	tokens   float64 // of the rate limit
	last     time.Time
}

func newChannel(ws *websocket.Conn, out, in []byte) (*channel, error) {
	c := &channel{ws: ws, tokens: maxBurst, last: time.Now()}
	var err error
	if c.seal, err = newSeal(out); err != nil {
		return nil, err
	}
	if c.open, err = newSeal(in); err != nil {
		return nil, err
	}
	c.ws.SetReadLimit(maxControl)
	return c, nil
}

func newSeal(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// nonce counts messages: each key seals one direction of one connection, so no
// number comes twice, and a message that is repeated, left out or moved does
// not open.
func nonce(n uint64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 4, 12), n)
}

// A kind says what a message is.
type kind byte

// send sends v as JSON.
func (c *channel) send(k kind, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.sendBytes(k, body)
}

func (c *channel) sendBytes(k kind, body ...[]byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	plain := append(c.out[:0], byte(k))
	for _, b := range body {
		plain = append(plain, b...)
	}
	// Sealed in place, with room for the seal behind it.
	sealed := c.seal.Seal(plain[:0], nonce(c.sent), plain, nil)
	c.sent++
	if c.out = sealed[:0]; cap(sealed) > 256<<10 {
		c.out = nil
	}
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.BinaryMessage, sealed)
}

// errSeal is all that is said about a message that does not open.
var errSeal = errors.New("a message of the connection was damaged or forged")

// receive returns the next message, which is valid until the one after it.
func (c *channel) receive() (kind, []byte, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, nil, err
	}
	form, sealed, err := c.ws.ReadMessage()
	if err != nil {
		return 0, nil, err
	}
	if form != websocket.BinaryMessage {
		return 0, nil, errSeal
	}
	if err := c.limit(); err != nil {
		return 0, nil, err
	}
	plain, err := c.open.Open(sealed[:0], nonce(c.received), sealed, nil)
	if err != nil || len(plain) == 0 {
		return 0, nil, errSeal
	}
	c.received++
	return kind(plain[0]), plain[1:], nil
}

func (c *channel) limit() error {
	now := time.Now()
	c.tokens = min(maxBurst, c.tokens+now.Sub(c.last).Seconds()*maxRate) - 1
	c.last = now
	if c.tokens < 0 {
		return fmt.Errorf("more than %d messages a second arrived", maxRate)
	}
	return nil
}

// close ends the connection; the other side need not wonder why.
func (c *channel) close() {
	closeWith(c.ws, websocket.CloseNormalClosure)
	_ = c.ws.Close()
}

// decode reads JSON strictly: what this build does not know is an error, not
// something to leave out of a benchmark in silence.
func decode(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("a message cannot be read: %w", err)
	}
	if d.More() {
		return errors.New("a message cannot be read: something follows it")
	}
	return nil
}
