package cli

import "testing"

// Messages of warp name the flags that the user of warp aisloader has.
func TestAISLoaderOwnWords(t *testing.T) {
	t.Parallel()
	native, s3 := &loaderFlags{}, &loaderFlags{s3Endpoint: "http://127.0.0.1:9000"}
	for _, c := range []struct {
		flags      *loaderFlags
		text, want string
	}{
		{native, "all 8 objects of --max-objects were written", "all 8 objects of --maxputs were written"},
		{native, "--host: no answer", "--ip and --port: no answer"},
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
