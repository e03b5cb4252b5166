package store

import (
	"cmp"
	"net/netip"
	"time"
)

// Options change what a client's requests look like, or the connections that
// they travel on. The zero value asks for nothing.
type Options struct {
	Encryption   Encryption
	StorageClass string      // of everything that is uploaded
	Metadata     []Attribute // sent as x-amz-meta-KEY
	Tags         []Attribute
	Checksum     Checksum
	MD5          bool // send Content-MD5 with every upload

	DisableMultipart bool  // upload in one request, whatever the size
	PartSize         int64 // of uploads in parts; 0 = the engine's own

	Lookup  string        // host, path or auto (or ""): where the bucket's name stands
	Timeout time.Duration // that nothing may move on a connection; 0 = the engine's own

	HTTP2                     bool // ask for HTTP/2; needs TLS
	NoKeepAlive               bool // a connection for each request
	SendBuffer, ReceiveBuffer int  // of sockets; 0 leaves them to the system
	SourceIPs                 []netip.Addr
	ClientCert, ClientKey     string // PEM files; both or none
	KTLS                      bool
}

// An EncryptionKind says who keeps the key of an encrypted object.
type EncryptionKind string

// The kinds of server-side encryption.
const (
	NoEncryption EncryptionKind = ""
	SSEC         EncryptionKind = "SSE-C"   // the client, who sends it with every request
	SSES3        EncryptionKind = "SSE-S3"  // the store
	SSEKMS       EncryptionKind = "SSE-KMS" // a key service
)

// Encryption has the store encrypt what is uploaded.
type Encryption struct {
	Kind  EncryptionKind
	Key   [32]byte // with SSE-C
	KeyID string   // with SSE-KMS
}

// An Attribute is one entry of an object's metadata or tags.
type Attribute struct {
	Key, Value string
	Random     int // > 0: instead of Value as many random characters, other ones for each object
}

// randomCharacters are 64 characters that need no escaping in headers and tags.
const randomCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// AppendValue appends the attribute's value for the object called name. A random value depends on
// the name, and so on the run's seed.
func (a *Attribute) AppendValue(dst []byte, name string) []byte {
	if a.Random == 0 {
		return append(dst, a.Value...)
	}
	state := uint64(14695981039346656037) // FNV-1a of both names
	for _, s := range [...]string{a.Key, "\x00", name} {
		for i := range len(s) {
			state = (state ^ uint64(s[i])) * 1099511628211
		}
	}
	var bits uint64
	for i := range a.Random {
		if i%10 == 0 { // SplitMix64: 10 characters of 6 bits each time
			state += 0x9e3779b97f4a7c15
			bits = state
			bits = (bits ^ bits>>30) * 0xbf58476d1ce4e5b9
			bits = (bits ^ bits>>27) * 0x94d049bb133111eb
			bits ^= bits >> 31
		}
		dst = append(dst, randomCharacters[bits&63])
		bits >>= 6
	}
	return dst
}

// A Checksum names the checksum that uploads carry; "" = none.
type Checksum string

// The checksums. Those with FO and CRC64NVME are of the whole object, also in a multipart upload.
// The others are composite there, computed from the checksums of the parts.
const (
	NoChecksum        Checksum = ""
	ChecksumCRC32     Checksum = "CRC32"
	ChecksumCRC32FO   Checksum = "CRC32-FO"
	ChecksumCRC32C    Checksum = "CRC32C"
	ChecksumCRC32CFO  Checksum = "CRC32C-FO"
	ChecksumCRC64NVME Checksum = "CRC64NVME"
	ChecksumSHA1      Checksum = "SHA1"
	ChecksumSHA256    Checksum = "SHA256"
	ChecksumSHA512    Checksum = "SHA512"
	ChecksumMD5       Checksum = "MD5CS" // x-amz-checksum-md5; Content-MD5 is Options.MD5
	ChecksumXXH64     Checksum = "XXH64"
	ChecksumXXH3      Checksum = "XXH3"
	ChecksumXXH128    Checksum = "XXH128"
)

// Checksums returns all checksums, the common ones first.
func Checksums() []Checksum {
	return []Checksum{
		ChecksumCRC32, ChecksumCRC32FO, ChecksumCRC32C, ChecksumCRC32CFO, ChecksumCRC64NVME, ChecksumSHA1,
		ChecksumSHA256, ChecksumSHA512, ChecksumMD5, ChecksumXXH64, ChecksumXXH3, ChecksumXXH128,
	}
}

// Values of Options.Lookup.
const (
	LookupAuto = "auto"
	LookupHost = "host"
	LookupPath = "path"
)

// answerTimeout is the default of Options.Timeout. Without a limit a frozen store would block
// preparation for ever.
const answerTimeout = 2 * time.Minute

// StallTimeout returns for how long a connection of the load may make no progress.
func (o *Options) StallTimeout() time.Duration { return cmp.Or(o.Timeout, answerTimeout) }

// ForAdmin returns the configuration for bookkeeping. All runs have to be able to read the
// markers, whatever their options, so it keeps only the options that are needed to reach the
// store.
func (cfg *Config) ForAdmin() *Config {
	own := *cfg
	own.Options = Options{
		Lookup: cfg.Lookup, HTTP2: cfg.HTTP2, SourceIPs: cfg.SourceIPs,
		ClientCert: cfg.ClientCert, ClientKey: cfg.ClientKey,
	}
	own.AIStore.Latest, own.AIStore.Cached, own.AIStore.ETL = false, false, ""
	return &own
}
