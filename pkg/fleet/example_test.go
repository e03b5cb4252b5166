package fleet_test

import (
	"context"
	"fmt"

	"warp/pkg/fleet"
)

func ExampleParseMembers() {
	members, err := fleet.ParseMembers(context.Background(), "load-{1...3},spare:9999", nil)
	fmt.Println(members, err)
	// Output: [load-1:7761 load-2:7761 load-3:7761 spare:9999] <nil>
}
