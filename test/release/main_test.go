package main

import "testing"

func TestNumber(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v1.2.3":                       "1.2.3",
		"v1.2.3-rc.1":                  "1.2.3~rc.1",
		"v1.2.3-5-g0123abc":            "1.2.3+5.g0123abc",
		"v1.2.3-rc.1-5-g0123abc-dirty": "1.2.3~rc.1+5.g0123abc.dirty",
		"0.0.0-dev+0123456789ab":       "0.0.0~dev+0123456789ab",
		"0.0.0-dev+unknown":            "0.0.0~dev+unknown",
	} {
		if got := (&release{version: version}).number(); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}
