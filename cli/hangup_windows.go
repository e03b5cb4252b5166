package cli

import "os"

// notifyHangups does nothing: there is no such signal that one could send.
func notifyHangups(chan<- os.Signal, bool) {}

func hasTerminal() bool { return false }
