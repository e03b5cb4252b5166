// Package kubetest holds the tests of the Helm chart: that it is sound, and that the commands in what it renders
// do as local processes what they are to do in a cluster.
package kubetest
