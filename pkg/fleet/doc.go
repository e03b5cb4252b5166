// Package fleet makes many machines one client of a store. On each of them an
// Agent serves one coordinator at a time; a Fleet is the coordinator's side: it
// hands out the shares of a run, starts them at one instant, and brings their
// records together.
//
// # Layers
//
//   - channel: a websocket on which, after a handshake, every message is sealed
//     under a key of that connection alone. Who does not know the token can
//     neither speak, nor listen, nor change or repeat a message.
//   - job and link: the state of a share of a run, on the agent's and on the
//     coordinator's side. They outlive connections: what is sent is always the
//     whole state (the phase that is wanted, the phase that is reached), never
//     a step, so that a connection may break anywhere and be replaced.
//   - Fleet: the barriers between phases, the clocks, the failures.
package fleet
