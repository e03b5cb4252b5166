package target

import (
	"encoding/json"
	"time"

	"warp/cli/command"
	"warp/pkg/store"
)

// Words choose the store in place of [Flags.Group], for commands with flags of another tool.
type Words struct {
	Host, Provider, Bucket, Region string
	Profile, AccessKey, SecretKey  string
	TokenFile, CAFile, Checksum    string
	Insecure                       bool
	Timeout                        time.Duration
	Settings                       json.RawMessage // see [store.Config]
}

// Say sets the flags by the words, and the others to their defaults. Check has to follow.
func (f *Flags) Say(env command.Environment, w *Words) {
	f.env, f.hostSelect, f.engine, f.Signature, f.EmbeddedMemory = env, "weighed", "auto", "S3V4", defaultEmbeddedMemory
	f.Host, f.ProviderName, f.Bucket, f.Region = w.Host, w.Provider, w.Bucket, w.Region
	f.profile, f.AccessKey, f.secretKey = w.Profile, w.AccessKey, w.SecretKey
	f.credentialsFile, f.caFile, f.insecure = w.TokenFile, w.CAFile, w.Insecure
	f.Options.checksum, f.Options.timeout, f.Options.listTimeout, f.settings = w.Checksum, w.Timeout, store.ListTimeout, w.Settings
}
