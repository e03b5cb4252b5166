// Package packagetest holds the tests of what warp is shipped as: the unit for systemd, the image of the Dockerfile, what
// "make packages" makes, and the action for GitHub.
package packagetest
