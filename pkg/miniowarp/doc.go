// Package miniowarp reads the aggregated results of minio/warp, which have
// figures of periods and segments instead of single requests.
package miniowarp
