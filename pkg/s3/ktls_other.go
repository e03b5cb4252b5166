//go:build !linux

package s3

// WhyNoKTLS says what keeps TLS from being left to the kernel.
func WhyNoKTLS() string { return "only the kernel of Linux does TLS" }
