package aisloader

import (
	"regexp"
	"strings"
)

// ownWords names aisloader's flags in a message that names the flags of other commands.
func (f *loaderFlags) ownWords(text string) string {
	address := "--s3endpoint"
	if f.s3Endpoint == "" && f.env.Value("AIS_ENDPOINT") != "" {
		address = "AIS_ENDPOINT"
	} else if f.s3Endpoint == "" {
		address = "--ip and --port"
	}
	own := map[string]string{
		"--total-size": "--totalputsize", "--max-objects": "--maxputs", "--concurrent": "--numworkers",
		"--credentials-file": "--tokenfile", "--access-token": "--tokenfile", "--profile": "--s3profile",
		"--verify=none": "--etl", "--part.size": "--maxsize",
		"--host": address, "--tls": "https in " + address,
	}
	text = strings.ReplaceAll(text, "--access-token or --credentials-file", "--tokenfile")
	text = strings.ReplaceAll(text, "--access-token, or --credentials-file with a file that has one", "--tokenfile")
	text = strings.ReplaceAll(text, "--host and its port", address)
	return flagNames.ReplaceAllStringFunc(text, func(name string) string {
		if better, ok := own[name]; ok {
			return better
		}
		return name
	})
}

// flagNames matches whole names of flags, with the one value that is a part of a message.
var flagNames = regexp.MustCompile(`--verify=none\b|--[a-z][a-z0-9.-]*[a-z0-9]`)
