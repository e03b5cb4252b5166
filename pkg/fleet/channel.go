package fleet

import (
	"bytes"
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

// A channel carries messages between two that have proven themselves. One
// goroutine may receive while any number send.
type channel struct {
	ws *websocket.Conn

	sending sync.Mutex
	out     []byte

	tokens float64 // of the rate limit
	last   time.Time
}

func newChannel(ws *websocket.Conn) *channel {
	ws.SetReadLimit(maxControl)
	return &channel{ws: ws, tokens: maxBurst, last: time.Now()}
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
	message := append(c.out[:0], byte(k))
	for _, b := range body {
		message = append(message, b...)
	}
	if c.out = message[:0]; cap(message) > 256<<10 {
		c.out = nil
	}
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.BinaryMessage, message)
}

// errMessage is about a message without the kind that each begins with.
var errMessage = errors.New("a message of the connection is not of warp's protocol")

// receive returns the next message, which is valid until the one after it.
func (c *channel) receive() (kind, []byte, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, nil, err
	}
	form, message, err := c.ws.ReadMessage()
	if err != nil {
		return 0, nil, err
	}
	if form != websocket.BinaryMessage || len(message) == 0 {
		return 0, nil, errMessage
	}
	if err := c.limit(); err != nil {
		return 0, nil, err
	}
	return kind(message[0]), message[1:], nil
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
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
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
