package store

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/tags"
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

// randomCharacters may stand in headers and in tags, and need no escaping. There are 64.
const randomCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// AppendValue appends the attribute's value for the object called name. It
// follows from the name, and so from the run's seed.
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

// A Checksum names what uploads carry to be checked by; "" = nothing.
type Checksum string

// The checksums. CRC32, CRC32C and the hashes of an upload in parts are made of
// the parts' (composite), those with FO and CRC64NVME are of the whole object.
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

// Checksums lists them all, the usual ones first.
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

// check refuses options that contradict each other.
func (o *Options) check(tls bool) error {
	switch {
	case o.Encryption.Kind == SSEC && !tls:
		return errors.New("SSE-C sends the key with every request, so it needs TLS")
	case o.Encryption.Kind == SSEKMS && o.Encryption.KeyID == "":
		return errors.New("SSE-KMS needs the id of a key")
	case !slices.Contains([]EncryptionKind{NoEncryption, SSEC, SSES3, SSEKMS}, o.Encryption.Kind):
		return fmt.Errorf("unknown encryption %q", o.Encryption.Kind)
	case o.Checksum != NoChecksum && !slices.Contains(Checksums(), o.Checksum):
		return fmt.Errorf("unknown checksum %q", o.Checksum)
	case o.Checksum != NoChecksum && o.MD5:
		return errors.New("an upload carries either a checksum or a Content-MD5")
	case o.DisableMultipart && o.PartSize > 0:
		return errors.New("a part size is of no use without multipart uploads")
	case !slices.Contains([]string{"", LookupAuto, LookupHost, LookupPath}, o.Lookup):
		return fmt.Errorf("unknown lookup %q: use %s, %s or %s", o.Lookup, LookupHost, LookupPath, LookupAuto)
	case (o.ClientCert == "") != (o.ClientKey == ""):
		return errors.New("a client certificate needs its key, and a key its certificate")
	case o.PartSize != 0 && (o.PartSize < leastPart || o.PartSize > mostPart):
		return errors.New("parts are between 5 MiB and 5 GiB large")
	case !tls && (o.HTTP2 || o.ClientCert != "" || o.KTLS):
		return errors.New("HTTP/2, client certificates and kernel TLS need TLS")
	}
	if err := checkMetadata(o.Metadata); err != nil {
		return err
	}
	return checkTags(o.Tags)
}

// What S3 allows.
const (
	leastPart    = 5 << 20
	mostPart     = 5 << 30
	mostMetadata = 2 << 10
)

func checkMetadata(all []Attribute) error {
	size, seen := 0, make(map[string]bool)
	for i := range all {
		a := &all[i]
		value := string(a.AppendValue(nil, ""))
		switch {
		case a.Key == "" || strings.ContainsFunc(a.Key, unfitForName):
			return fmt.Errorf("metadata %q: a key is made of letters, digits, dots, - and _", a.Key)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) || strings.TrimSpace(value) != value:
			return fmt.Errorf("metadata %q: a value is of ASCII characters, with no blank at either end", a.Key)
		case seen[strings.ToLower(a.Key)]:
			return fmt.Errorf("metadata %q is given twice", a.Key)
		}
		seen[strings.ToLower(a.Key)] = true
		size += len(a.Key) + len(value)
	}
	if size > mostMetadata {
		return fmt.Errorf("metadata of %d bytes is more than the %d that S3 allows", size, mostMetadata)
	}
	return nil
}

func unfitForName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
}

func checkTags(all []Attribute) error {
	seen := make(map[string]string)
	for i := range all {
		if _, twice := seen[all[i].Key]; twice {
			return fmt.Errorf("tag %q is given twice", all[i].Key)
		}
		seen[all[i].Key] = string(all[i].AppendValue(nil, ""))
		if _, err := tags.NewTags(map[string]string{all[i].Key: seen[all[i].Key]}, true); err != nil {
			return fmt.Errorf("tag %q: %w", all[i].Key, err)
		}
	}
	if _, err := tags.NewTags(seen, true); err != nil {
		return err
	}
	return nil
}

// patience is how long nothing may move on a connection of the load.
func (o *Options) patience() time.Duration { return cmp.Or(o.Timeout, answerTimeout) }

// forDesk is the configuration for bookkeeping. Markers are for all runs to
// read, whatever their options: of these only those are left that it takes to
// reach the store.
func (cfg *Config) forDesk() *Config {
	own := *cfg
	own.Options = Options{
		Lookup: cfg.Lookup, HTTP2: cfg.HTTP2, SourceIPs: cfg.SourceIPs,
		ClientCert: cfg.ClientCert, ClientKey: cfg.ClientKey,
	}
	return &own
}

// beyondLean says which of the options the lean engine does not do; "" = none.
func (o *Options) beyondLean() string {
	var all []string
	add := func(asked bool, what string) {
		if asked {
			all = append(all, what)
		}
	}
	add(o.Lookup == LookupHost, "bucket names in host names")
	add(o.HTTP2, "HTTP/2")
	add(o.KTLS, "kernel TLS")
	if len(all) == 0 {
		return ""
	}
	return "it does not do " + strings.Join(all, ", ")
}
