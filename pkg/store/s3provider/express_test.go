package s3provider

import (
	"fmt"
	"strings"
	"testing"
)

// At hosts of Amazon's, the names of buckets determine the zonal hosts.
func TestZonalHosts(t *testing.T) {
	t.Parallel()
	const bucket, zonalHost = "data--use1-az4--x-s3", "s3express-use1-az4.us-east-1.amazonaws.com"
	for _, test := range []struct{ host, bucket, region, want string }{
		{"s3.us-east-1.amazonaws.com", bucket, "", zonalHost + " us-east-1"},
		{"s3.dualstack.us-east-1.amazonaws.com", bucket, "", zonalHost + " us-east-1"},
		{"s3express-control.us-east-1.amazonaws.com:443", bucket, "", zonalHost + ":443 us-east-1"},
		{zonalHost, bucket, "", zonalHost + " us-east-1"},
		{"s3.amazonaws.com", bucket, "us-west-2", "s3express-use1-az4.us-west-2.amazonaws.com us-west-2"},
		{"s3.cn-north-1.amazonaws.com.cn", "d--cnn1-az4--x-s3", "", "s3express-cnn1-az4.cn-north-1.amazonaws.com.cn cn-north-1"},
		{"127.0.0.1:9000", bucket, "", "127.0.0.1:9000 "},
		{"gateway:9000/s3", bucket, "r", "gateway:9000/s3 r"},
		{"s3.amazonaws.com", bucket, "", "does not tell the region"},
		{"h", "data--x-s3", "", "NAME--ZONE--x-s3"},
		{"h", "plain", "", "NAME--ZONE--x-s3"},
	} {
		hosts, region, err := zonalHosts([]string{test.host}, []string{test.bucket}, test.region)
		got := fmt.Sprint(strings.Join(hosts, ","), " ", region)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s %s %q: %s, want %s", test.host, test.bucket, test.region, got, test.want)
		}
	}
	if _, _, err := zonalHosts([]string{"h"}, []string{bucket, "d--usw2-az1--x-s3"}, ""); err == nil || !strings.Contains(err.Error(), "two zones") {
		t.Error(err)
	}
}
