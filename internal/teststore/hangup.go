package teststore

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// HearHangups has processes that tests start not inherit that SIGHUP is ignored, as it is for tests that run under nohup.
var HearHangups = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) })
