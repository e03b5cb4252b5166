package console

// WatchSuspension does nothing: there is no suspension under Windows.
func (c *Console) WatchSuspension() (stop func()) { return func() {} }
