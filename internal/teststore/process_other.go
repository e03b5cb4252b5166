//go:build !linux

package teststore

import "os/exec"

// dieWithParent has no counterpart here: a store outlives a test binary that is killed.
func dieWithParent(*exec.Cmd) {}
