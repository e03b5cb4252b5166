package credentials_test

import (
	"context"
	"fmt"

	"warp/pkg/store/credentials"
)

// Keys given to warp come before those in the environment.
func ExampleResolve() {
	environment := map[string]string{"AWS_ACCESS_KEY_ID": "FROMAWS", "AWS_SECRET_ACCESS_KEY": "secret"}
	o := credentials.Options{Getenv: func(name string) string { return environment[name] }}
	show := func(o credentials.Options) {
		found, err := credentials.Resolve(context.Background(), o)
		if err != nil {
			fmt.Println(err)
			return
		}
		keys, err := found.Keys(context.Background())
		fmt.Println(keys.AccessKey, "-", found.Source, err)
	}
	show(o)
	o.Access, o.Secret = "FROMFLAG", "secret"
	show(o)
	// Output:
	// FROMAWS - the AWS environment <nil>
	// FROMFLAG - flags or WARP_* variables <nil>
}
