package cli

// markSignals does nothing: there is no such signal.
func (s *session) markSignals() (stop func()) { return func() {} }
