package s3

import (
	"fmt"
	"net"
	"strings"
)

// Express is the provider name of S3 Express One Zone. Its buckets are directory buckets.
const Express = "s3express"

// SignExpress is the signature of [store.Keys] from a session.
const SignExpress = "s3express"

// SessionToken is the header that carries the token of a session.
const SessionToken = "x-amz-s3session-token"

// directorySuffix ends the names of directory buckets. Their listings are unordered.
const directorySuffix = "--x-s3"

// IsDirectory reports whether a bucket has the name of a directory bucket.
func IsDirectory(bucket string) bool { return strings.HasSuffix(bucket, directorySuffix) }

// Zone returns the zone in the name of a directory bucket, NAME--ZONE--x-s3.
func Zone(bucket string) (string, error) {
	rest, ok := strings.CutSuffix(bucket, directorySuffix)
	at := strings.LastIndex(rest, "--")
	if !ok || at < 1 || at+2 == len(rest) || strings.ContainsAny(rest, "./:@") {
		return "", fmt.Errorf("bucket %s: the name of a directory bucket is NAME--ZONE%s, such as data--use1-az4%s", bucket, directorySuffix, directorySuffix)
	}
	return rest[at+2:], nil
}

// ListPrefix returns the prefix to list in a directory bucket. The store lists only whole
// directories, so the caller has to filter the entries.
func ListPrefix(prefix string) string { return prefix[:strings.LastIndexByte(prefix, '/')+1] }

// awsDomain returns the domain of a host of Amazon's, or "" for other hosts.
func awsDomain(host string) string {
	name := strings.ToLower(host)
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	for _, domain := range []string{"amazonaws.com", "amazonaws.com.cn"} {
		if strings.HasSuffix(name, "."+domain) {
			return domain
		}
	}
	return ""
}

// IsAWS reports whether a host is Amazon's. Only there do names of directory buckets become part of
// host names.
func IsAWS(host string) bool { return awsDomain(host) != "" }

// ZonalHost returns the endpoint and the region of the directory buckets of a zone if host is
// Amazon's, and host itself otherwise.
func ZonalHost(host, zone, region string) (zonal, in string, err error) {
	domain := awsDomain(host)
	if domain == "" {
		return host, region, nil
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, ""
	}
	if region == "" {
		region = regionOfHost(strings.TrimSuffix(strings.ToLower(name), "."+domain))
	}
	if region == "" {
		return "", "", fmt.Errorf("%s does not tell the region of zone %s: name it with --region", host, zone)
	}
	zonal = "s3express-" + zone + "." + region + "." + domain
	if port != "" {
		zonal = net.JoinHostPort(zonal, port)
	}
	return zonal, region, nil
}

// ControlHost returns the endpoint that makes the directory buckets of a zonal endpoint.
func ControlHost(zonal string) string {
	_, rest, _ := strings.Cut(zonal, ".")
	return "s3express-control." + rest
}

// regionOfHost returns the region in the first labels of a host of Amazon's: s3.REGION,
// s3express-ZONE.REGION, s3.dualstack.REGION.
func regionOfHost(labels string) string {
	last := labels[strings.LastIndexByte(labels, '.')+1:]
	if strings.HasPrefix(last, "s3") {
		return "" // the host for all regions
	}
	return last
}
