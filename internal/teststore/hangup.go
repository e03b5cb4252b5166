package teststore

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// HearHangups prevents processes started by tests from inheriting that SIGHUP is ignored, as it is
// for tests under nohup.
var HearHangups = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) })
