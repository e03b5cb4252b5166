package ais

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"warp/pkg/store"
)

var _ store.Transformer = (*Admin)(nil)

// A transform is the body of a request that starts a transformation.
type transform struct {
	Name          string `json:"name"`
	Communication string `json:"communication"`
	Timeout       string `json:"init_timeout"`
	Spec          []byte `json:"spec"`
}

// communication is how the cluster passes objects to a container, unless the pod sets it.
const communication = "hpush://"

// ownCommunication finds the setting in a pod.
var ownCommunication = regexp.MustCompile(`(?m)^\s*communication_type:\s*["']?(\w+://)["']?\s*$`)

func communicationOf(spec []byte) string {
	if m := ownCommunication.FindSubmatch(spec); m != nil {
		return string(m[1])
	}
	return communication
}

// transformTimeout allows for the start of containers whose image may have to be downloaded.
const transformTimeout = 5 * time.Minute

// StartTransform starts a transformation and waits until its containers are ready.
func (a *Admin) StartTransform(ctx context.Context, t store.Transformation) error {
	r := a.request(http.MethodPut, etlPath)
	defer r.End()
	r.JSON(transform{Name: t.Name, Communication: communicationOf(t.Spec), Timeout: transformTimeout.String(), Spec: t.Spec})
	reply, err := a.slow.Do(ctx, r, store.NewTrace(time.Now()))
	if err != nil {
		return err
	}
	if reply.Status/100 != 2 {
		return transformError(refusal(reply, ""))
	}
	return nil
}

// StopTransform stops a transformation and removes it. It is not an error if the transformation does
// not exist.
func (a *Admin) StopTransform(ctx context.Context, name string) error {
	for _, step := range []struct{ method, path string }{{http.MethodPost, "/stop"}, {http.MethodDelete, ""}} {
		r := a.request(step.method, etlPath)
		r.Segment(name)
		r.Raw(step.path)
		_, err := a.send(ctx, r, "", store.NewTrace(time.Now()))
		r.End()
		if e, ok := err.(*store.Error); ok && e.Status == http.StatusNotFound {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// transformError says what is missing if a cluster does not support transformations.
func transformError(e *store.Error) error {
	if !strings.Contains(e.Message, "requires Kubernetes") {
		return e
	}
	return store.Errorf("NotImplemented", e.Status, "AIStore transforms objects only if it runs on Kubernetes, and this cluster does not")
}

// BuiltInSpec returns the pod of a transformation that NVIDIA publishes: md5, echo or tar2tf. It
// returns false for other names.
func BuiltInSpec(name string) ([]byte, bool) {
	switch name {
	case "md5", "echo", "tar2tf":
		return fmt.Appendf(nil, builtInSpec, name), true
	}
	return nil, false
}

const builtInSpec = `apiVersion: v1
kind: Pod
metadata:
  name: transformer-%[1]s
  annotations:
    communication_type: "` + communication + `"
    wait_timeout: 5m
spec:
  containers:
    - name: server
      image: docker.io/aistorage/transformer_%[1]s:latest
      imagePullPolicy: Always
      ports:
        - name: default
          containerPort: 8000
      readinessProbe:
        httpGet:
          path: /health
          port: default
`
