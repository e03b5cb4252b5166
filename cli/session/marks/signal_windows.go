package marks

// listenSignals does nothing: there is no such signal.
func (m *Marker) listenSignals() (stop func()) { return func() {} }
