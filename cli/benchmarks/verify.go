package benchmarks

import (
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/bench/verify"
)

// verifyFlags say how closely downloads are checked.
type verifyFlags struct{ how verify.Mode }

func (v *verifyFlags) flag() cli.Flag {
	return &verifyFlag{Name: "verify", Destination: &v.how,
		Usage: "check `WHAT` of downloads: etag (size and ETag), content (also every byte), checksum (also the store's checksum) or none"}
}

// whole refuses parts of objects, which have no checksum of their own.
func (v *verifyFlags) whole(flag string, asked bool) error {
	if v.how == verify.Checksum && asked {
		return exit.Usagef("--verify=checksum: stores keep checksums of whole objects, and %s asks for parts", flag).WithHint("use --verify=content, which checks parts too")
	}
	return nil
}

type verifyFlag = cli.FlagBase[verify.Mode, cli.NoConfig, verifyValue]

// verifyNames are the values of a verifyFlag, by mode.
func verifyNames() []string {
	return []string{verify.ETag: "etag", verify.Checksum: "checksum", verify.Content: "content", verify.None: "none"}
}

// verifyValue parses the value of a verifyFlag.
type verifyValue struct{ p *verify.Mode }

func (verifyValue) Create(v verify.Mode, p *verify.Mode, _ cli.NoConfig) cli.Value {
	*p = v
	return verifyValue{p}
}

func (v verifyValue) Set(s string) error {
	for i, name := range verifyNames() {
		if strings.EqualFold(name, s) {
			*v.p = verify.Mode(i)
			return nil
		}
	}
	return flagtype.Wrong("%q is not one of %s", s, strings.Join(verifyNames(), ", "))
}

func (v verifyValue) Get() any                    { return verifyNames()[*v.p] }
func (v verifyValue) String() string              { return verifyNames()[*v.p] }
func (verifyValue) ToString(b verify.Mode) string { return verifyNames()[b] }
