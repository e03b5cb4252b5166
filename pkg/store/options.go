package store

import (
	"cmp"
	"net/netip"
	"time"
)

// Options change a client's requests and connections. The zero value changes nothing.
type Options struct {
	Encryption   Encryption
	StorageClass string      // the storage class of all uploads
	Metadata     []Attribute // sent as x-amz-meta-KEY
	Tags         []Attribute
	Checksum     Checksum
	MD5          bool // send Content-MD5 with every upload

	DisableMultipart bool  // upload in one request, whatever the size
	PartSize         int64 // part size of uploads; 0 = the engine's default

	Lookup  string        // host, path or auto (or ""): where the bucket's name goes
	Timeout time.Duration // max time without progress on a connection; 0 = the engine's default

	// ListTimeout limits one listing of bookkeeping; 0 = no limit.
	ListTimeout time.Duration

	HTTP2                     bool // ask for HTTP/2; needs TLS
	NoKeepAlive               bool // use a new connection for each request
	SendBuffer, ReceiveBuffer int  // socket buffers; 0 leaves them to the system
	SourceIPs                 []netip.Addr
	ClientCert, ClientKey     string // PEM files, both or none
	KTLS                      bool
	NoRepeat                  bool // never send a request twice, not even if the store had closed its connection before
}

// An EncryptionKind says who keeps the key of an encrypted object.
type EncryptionKind string

// The kinds of server-side encryption.
const (
	NoEncryption EncryptionKind = ""
	SSEC         EncryptionKind = "SSE-C"   // the client sends the key with every request
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
	Random     int // > 0: use this many random characters instead of Value, different for each object
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

// The checksums. Those with FO and CRC64NVME always cover the whole object. In a multipart upload,
// the others are composite: they are computed from the checksums of the parts.
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

// answerTimeout is the default of Options.Timeout. Without a limit, a frozen store would block
// preparation for ever.
const answerTimeout = 2 * time.Minute

// StallTimeout returns how long a connection of the load may make no progress.
func (o *Options) StallTimeout() time.Duration { return cmp.Or(o.Timeout, answerTimeout) }

// ForAdmin returns the configuration for bookkeeping. It keeps only the options that are needed to
// reach the store, because every run has to be able to read the markers, whatever its options.
func (cfg *Config) ForAdmin() *Config {
	own := *cfg
	own.Options = Options{
		Lookup: cfg.Lookup, HTTP2: cfg.HTTP2, SourceIPs: cfg.SourceIPs,
		ClientCert: cfg.ClientCert, ClientKey: cfg.ClientKey,
	}
	return &own
}
