// Package transport connects a coordinator with its clients: messages over a
// websocket, over TLS 1.3, between two that have proven to each other that they
// know the token. It knows nothing of what the messages say.
//
// A [Server] accepts coordinators on the machine of a client, and a [Dialer] is
// the coordinator's side. Either ends in a [Conn]. From the first byte on:
//
//  1. connlimit bounds the connections of strangers (strangers.go).
//  2. TLS 1.3, with a certificate that says nothing by itself (certificate.go).
//  3. An HTTP request that asks for a websocket (dial.go, serve.go).
//  4. One greeting of either side, with its version and its proof (handshake.go).
//  5. Messages, bounded in size and rate (conn.go).
package transport
