// Package packagetest tests releases: the unit for systemd, the image of the Dockerfile, the packages of
// "make packages", and the action for GitHub.
package packagetest
