// Package kubetest tests the Helm chart and the plain manifests: Kubernetes accepts them, and their commands work as
// local processes.
package kubetest
