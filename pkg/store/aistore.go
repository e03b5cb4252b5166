package store

import "context"

// An AIStore is what requests to an AIStore ask for beyond what other stores know. The zero value asks for nothing.
type AIStore struct {
	Backend    string // of the buckets: "" or ais is AIStore's own; aws, gcp, azure, oci and ht are behind it
	Namespace  string // of the buckets, as in @uuid#name
	Properties []byte // of buckets that are made, as a JSON document; nil = those of the cluster
	Latest     bool   // downloads look for a later version behind the cluster
	Cached     bool   // listings have the objects that are in the cluster, and not what is behind it alone
	ETL        string // the name of the transformation that downloads go through; "" = none
}

// A ConfigReader is an [Engine] of a store whose configuration can be read.
type ConfigReader interface {
	// ReadConfig reads the configuration of the cluster, and returns its length.
	ReadConfig(ctx context.Context, tr *Trace) (int64, error)
}

// A BucketRemover is an [Admin] of a store whose buckets can be removed.
type BucketRemover interface {
	// RemoveBucket removes a bucket that warp has made and that is empty. It reports false for one that stays because it
	// is not.
	RemoveBucket(ctx context.Context, bucket string) (removed bool, err error)
}

// A Transformer is an [Admin] of a store that transforms what is downloaded.
type Transformer interface {
	// StartTransform starts a transformation, for [AIStore.ETL].
	StartTransform(ctx context.Context, t Transformation) error
	// StopTransform ends it, and removes it.
	StopTransform(ctx context.Context, name string) error
}

// A Transformation is a container that transforms objects.
type Transformation struct {
	Name string // which nothing else in the cluster may have
	Spec []byte // of its pod, as Kubernetes takes it, in YAML
}

// A PropertySetter is an [Admin] of a store whose buckets have properties.
type PropertySetter interface {
	// SetProperties gives the bucket the properties of [AIStore.Properties].
	SetProperties(ctx context.Context, bucket string) error
}

// SetProperties gives a bucket the properties of [AIStore.Properties]. It returns [ErrUnsupported] where the store's
// buckets have none.
func (c *Client) SetProperties(ctx context.Context, bucket string) error {
	return c.anyHost(ctx, func(h *Host) error {
		if setter, ok := h.admin.(PropertySetter); ok {
			return setter.SetProperties(ctx, bucket)
		}
		return ErrUnsupported
	})
}

// Transforms returns the admin that starts and stops transformations; false where the store has none.
func (h *Host) Transforms() (Transformer, bool) {
	t, ok := h.admin.(Transformer)
	return t, ok
}

// RemoveBucket removes a bucket that warp has made and that is empty. It reports false for one that stays, because it is
// not, or because the store's buckets cannot be removed.
func (c *Client) RemoveBucket(ctx context.Context, bucket string) (removed bool, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		remover, ok := h.admin.(BucketRemover)
		if !ok {
			return nil
		}
		removed, err = remover.RemoveBucket(ctx, bucket)
		return err
	})
	return removed, err
}
