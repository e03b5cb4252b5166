package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// MaxMessage is the maximum size of a message, unless more is allowed.
	MaxMessage = 1 << 20
	// silence is how long nothing may arrive on a connection before it counts
	// as broken; both sides speak every second.
	silence   = 5 * time.Second
	writeTime = 5 * time.Second
	// Messages per second that a side may send on average, and at once. Data
	// comes in messages of 32 KiB.
	maxRate  = 4000
	maxBurst = 8000
)

// A Conn carries messages between two that have proven themselves. One
// goroutine may receive while any number send.
type Conn struct {
	ws *websocket.Conn

	sending sync.Mutex
	out     []byte

	allowance float64 // messages that may still come at once
	last      time.Time
}

func newConn(ws *websocket.Conn) *Conn {
	ws.SetReadLimit(MaxMessage)
	return &Conn{ws: ws, allowance: maxBurst, last: time.Now()}
}

// Allow lets messages have that many bytes from now on.
func (c *Conn) Allow(size int64) { c.ws.SetReadLimit(size) }

// CloseOn closes the connection when ctx ends, which also ends a read that is
// waiting.
func (c *Conn) CloseOn(ctx context.Context) (stop func() bool) { return closeOn(ctx, c.ws) }

// A Kind is the type of a message.
type Kind byte

// Send sends v as JSON.
func (c *Conn) Send(k Kind, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.SendBytes(k, body)
}

// SendBytes sends a message of all parts.
func (c *Conn) SendBytes(k Kind, parts ...[]byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	message := append(c.out[:0], byte(k))
	for _, p := range parts {
		message = append(message, p...)
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

// Receive returns the next message, which is valid until the one after it.
func (c *Conn) Receive() (Kind, []byte, error) {
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
	return Kind(message[0]), message[1:], nil
}

func (c *Conn) limit() error {
	now := time.Now()
	c.allowance = min(maxBurst, c.allowance+now.Sub(c.last).Seconds()*maxRate) - 1
	c.last = now
	if c.allowance < 0 {
		return fmt.Errorf("more than %d messages a second arrived", maxRate)
	}
	return nil
}

// Close ends the connection; the other side need not wonder why.
func (c *Conn) Close() {
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	_ = c.ws.Close()
}
