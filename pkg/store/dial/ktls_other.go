//go:build !linux

package dial

// WhyNoKTLS explains why the kernel cannot do TLS for warp.
func WhyNoKTLS() string { return "only the kernel of Linux does TLS" }
