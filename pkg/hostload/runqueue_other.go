//go:build !linux

package hostload

import "time"

func threadWaits() map[string]time.Duration { return nil } // not known
