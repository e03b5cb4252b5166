package process

import "os"

// notify does nothing, because Windows has no such signal.
func notify(chan<- os.Signal, bool) {}

func hasTerminal() bool { return false }
