//go:build !linux

package dial

// WhyNoKTLS says what keeps TLS from being left to the kernel.
func WhyNoKTLS() string { return "only the kernel of Linux does TLS" }
