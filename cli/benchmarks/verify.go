package benchmarks

import (
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/bench/verify"
)

// verifyFlags say how closely downloads are checked.
type verifyFlags struct{ how string }

// verifyNames returns the values of --verify, by mode.
func verifyNames() []string {
	return []string{verify.ETag: "etag", verify.Checksum: "checksum", verify.Content: "content", verify.None: "none"}
}

func (v *verifyFlags) flag() cli.Flag {
	return &flagtype.Choice{Name: "verify", Value: verifyNames()[verify.ETag], Config: verifyNames(), Destination: &v.how,
		Usage: "check `WHAT` of downloads: etag (size and ETag), content (also every byte), checksum (also the store's checksum) or none"}
}

// mode returns what the flag says. Benchmarks without the flag have the first mode.
func (v *verifyFlags) mode() verify.Mode {
	return verify.Mode(max(0, slices.Index(verifyNames(), v.how)))
}

// whole refuses parts of objects, which have no checksum of their own.
func (v *verifyFlags) whole(flag string, asked bool) error {
	if v.mode() == verify.Checksum && asked {
		return exit.Usagef("--verify=checksum: stores keep checksums of whole objects, and %s asks for parts", flag).WithHint("use --verify=content, which checks parts too")
	}
	return nil
}
