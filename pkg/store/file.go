package store

import (
	"context"

	"github.com/minio/minio-go/v7"
)

// UploadFile stores a file of this machine as an object, in parts where it is large. It is never measured.
func (c *Client) UploadFile(ctx context.Context, ref Ref, path, contentType string) error {
	return c.anyHost(ctx, func(h *Host) error {
		_, err := h.desk.core.Client.FPutObject(ctx, ref.Bucket, ref.Key, path, minio.PutObjectOptions{ContentType: contentType})
		return err
	})
}
