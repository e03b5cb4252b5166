// Package kubetest holds the tests of the Helm chart and of the plain manifests: that Kubernetes takes what is rendered,
// and that the commands in it do as local processes what they are to do in a cluster.
package kubetest
