// Package packagetest holds the tests of what warp is shipped as: the unit for systemd, the image of the Dockerfile and the
// archives of GoReleaser.
package packagetest
