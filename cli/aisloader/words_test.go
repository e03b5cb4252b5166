package aisloader

import "testing"

// Messages of warp name the flags that the user of warp aisloader has.
func TestAISLoaderOwnWords(t *testing.T) {
	t.Parallel()
	without := func(string) (string, bool) { return "", false }
	with := func(name string) (string, bool) { return "10.0.0.1:51080", name == "AIS_ENDPOINT" }
	native, s3, variable := &loaderFlags{env: without}, &loaderFlags{env: with, s3Endpoint: "http://127.0.0.1:9000"}, &loaderFlags{env: with}
	for _, c := range []struct {
		flags      *loaderFlags
		text, want string
	}{
		{native, "all 8 objects of --max-objects were written", "all 8 objects of --maxputs were written"},
		{native, "--host: no answer", "--ip and --port: no answer"},
		{variable, "--host: no answer", "AIS_ENDPOINT: no answer"},
		{variable, "check --host and its port", "check AIS_ENDPOINT"},
		{s3, "--host: no answer", "--s3endpoint: no answer"},
		{native, "use --access-token or --credentials-file", "use --tokenfile"},
		{native, "--max-objects-x is another flag", "--max-objects-x is another flag"},
		{native, "nothing here", "nothing here"},
	} {
		if got := c.flags.ownWords(c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}
