package runfile_test

import (
	"fmt"

	"warp/pkg/runfile"
)

func ExampleParse() {
	const text = `warp:
  api: v1
  benchmark: put
  obj: {size: '{{.Size}}'}
`
	f, err := runfile.Parse("put.yml", []byte(text), map[string]string{"Size": "1MiB"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range f.Benchmarks[0].Settings {
		fmt.Printf("line %d: --%s=%s\n", s.Line, s.Flag, s.Values[0])
	}
	_, err = runfile.Parse("put.yml", []byte(text), nil)
	fmt.Println(err)
	// Output:
	// line 4: --obj.size=1MiB
	// put.yml:4: the variable Size has no value; add --var Size=VALUE
}
