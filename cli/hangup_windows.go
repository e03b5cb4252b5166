package cli

import "os"

// hangups receives nothing, as there is no such signal that one could send.
func hangups(bool) (signals <-chan os.Signal, stop func()) { return nil, func() {} }
