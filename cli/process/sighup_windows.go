package process

import "os"

// notify does nothing: there is no such signal that one could send.
func notify(chan<- os.Signal, bool) {}

func hasTerminal() bool { return false }
