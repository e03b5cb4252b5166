package cli

// watchSuspension does nothing: there is no suspension under Windows.
func watchSuspension(*console) (stop func()) { return func() {} }
