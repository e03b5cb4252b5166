package terminal

// Keys are not read under Windows.
type Keys struct{}

// ReadKeys returns nil: no keys are read.
func ReadKeys(int, func(key rune)) *Keys { return nil }

// Close does nothing.
func (*Keys) Close() {}

// Pause does nothing.
func (*Keys) Pause() {}

// Resume does nothing.
func (*Keys) Resume() {}

// foreground reports whether the terminal may be drawn on.
func foreground(int) bool { return true }
