package store

import "context"

// A ConfigReader is an [Engine] that can read the store's configuration.
type ConfigReader interface {
	// ReadConfig reads the configuration of the cluster and returns its length.
	ReadConfig(ctx context.Context, tr *Trace) (int64, error)
}

// A BucketRemover is an [Admin] that can remove buckets.
type BucketRemover interface {
	// RemoveBucket removes an empty bucket that warp has made. It returns false if the bucket stays
	// because it is not empty.
	RemoveBucket(ctx context.Context, bucket string) (removed bool, err error)
}

// A Transformer is an [Admin] of a store that transforms objects when they are downloaded.
type Transformer interface {
	// StartTransform starts a transformation, which downloads can then name.
	StartTransform(ctx context.Context, t Transformation) error
	// StopTransform stops and removes the transformation.
	StopTransform(ctx context.Context, name string) error
}

// A Transformation is a container that transforms objects.
type Transformation struct {
	Name string // unique in the cluster
	Spec []byte // the Kubernetes pod, in YAML
}

// A PropertySetter is an [Admin] of a store whose buckets have properties.
type PropertySetter interface {
	// SetProperties gives the bucket the properties in [Config.Settings].
	SetProperties(ctx context.Context, bucket string) error
}

// SetProperties gives a bucket the properties in [Config.Settings]. It returns [ErrUnsupported]
// if buckets of the store have none.
func (c *Client) SetProperties(ctx context.Context, bucket string) error {
	return c.anyHost(ctx, func(h *Host) error {
		if setter, ok := h.admin.(PropertySetter); ok {
			return setter.SetProperties(ctx, bucket)
		}
		return ErrUnsupported
	})
}

// Transforms returns the admin that starts and stops transformations, or false if the store has
// none.
func (h *Host) Transforms() (Transformer, bool) {
	t, ok := h.admin.(Transformer)
	return t, ok
}

// RemoveBucket removes an empty bucket that warp has made. It returns false if the bucket stays,
// because it is not empty or because the store cannot remove buckets.
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
