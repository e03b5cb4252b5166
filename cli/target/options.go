package target

import (
	"crypto/rand"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/store"
	"warp/pkg/store/dial"
)

// OptionFlags determine the form of requests and the connections for them.
type OptionFlags struct {
	Encrypt, sseS3            bool
	kmsKey, Checksum, class   string
	md5, noMultipart          bool
	metadata, tags            []string
	partSize                  int64
	lookup, sourceIP          string
	Timeout, listTimeout      time.Duration
	http2, noKeepAlive, ktls  bool
	sendBuffer, receiveBuffer int64
	clientCert, clientKey     string
	NoRepeat                  bool // never send a request twice; not a flag
}

// Whole reports whether each object is uploaded in one request.
func (f *OptionFlags) Whole() bool { return f.noMultipart }

func (f *OptionFlags) requestFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "encrypt", Destination: &f.Encrypt, Usage: "encrypt with a random key sent in every request (SSE-C); needs --tls"},
		&cli.BoolFlag{Name: "sse-s3-encrypt", Destination: &f.sseS3, Usage: "encrypt with a key that the store manages (SSE-S3)"},
		&cli.StringFlag{Name: "sse-kms-key", Hidden: true, Destination: &f.kmsKey, Usage: "encrypt with the key `ID` of the store's key service (SSE-KMS)"},
		&flagtype.Choice{Name: "checksum", Config: checksumNames(), Destination: &f.Checksum,
			Usage: "send a checksum of `KIND` with uploads: " + strings.Join(checksumNames(), ", ") + "; MD5 is --md5"},
		&cli.BoolFlag{Name: "md5", Destination: &f.md5, Usage: "send a Content-MD5 header with uploads"},
		&cli.StringFlag{Name: "storage-class", Destination: &f.class, Usage: "upload to this storage `CLASS`"},
		&cli.BoolFlag{Name: "disable-multipart", Destination: &f.noMultipart, Usage: "upload in one request, regardless of size"},
		&flagtype.List{Name: "add-metadata", Destination: &f.metadata, Hidden: true,
			Usage: "upload with metadata `KEY=VALUE`; a value rand:N is N random characters per object; repeatable"},
		&flagtype.List{Name: "tag", Destination: &f.tags, Hidden: true,
			Usage: "upload with tag `KEY=VALUE`; a value rand:N is N random characters per object; repeatable"},
	}
}

func (f *OptionFlags) partFlag(usage string) cli.Flag {
	return &flagtype.Size{Name: "part.size", Destination: &f.partSize, Hidden: true, DefaultText: "16MiB", Usage: usage}
}

func (f *OptionFlags) connectionFlags(env command.Environment) []cli.Flag {
	return []cli.Flag{
		&flagtype.Choice{Name: "lookup", Value: store.LookupAuto, Config: flagtype.Choices{store.LookupAuto, store.LookupHost, store.LookupPath}, Destination: &f.lookup,
			Usage: "bucket name `WHERE`: host, path or auto (path, except on AWS)"},
		&flagtype.Duration{Name: "timeout", Destination: &f.Timeout, DefaultText: "10s to connect, 2m otherwise",
			Usage: "fail a request that makes no progress for `TIME`; this is an idle timeout, not a limit on the total time"},
		&flagtype.Duration{Name: "list-timeout", Value: store.ListTimeout, Destination: &f.listTimeout, Hidden: true,
			Usage: "fail a listing of the preparation or clean-up that takes longer than `TIME`; 0 is no limit"},
		&cli.StringFlag{Name: "source-ip", Destination: &f.sourceIP,
			Usage: "connect from this local `ADDRESS`, or from several in turn: a,b or 10.0.0.{1...4}"},
		&cli.StringFlag{Name: "client-cert", Hidden: true, Destination: &f.clientCert, TakesFile: true, Usage: "with --tls: PEM `FILE` of the client certificate"},
		&cli.StringFlag{Name: "client-key", Hidden: true, Destination: &f.clientKey, TakesFile: true, Usage: "with --client-cert: PEM `FILE` of its key"},
		&cli.BoolFlag{Name: "http2", Destination: &f.http2, Hidden: true, Usage: "with --tls: use HTTP/2"},
		&cli.BoolFlag{Name: "disable-http-keepalive", Destination: &f.noKeepAlive, Hidden: true, Usage: "open a new connection for each request"},
		&flagtype.Size{Name: "sndbuf", Destination: &f.sendBuffer, Hidden: true, DefaultText: "as the system tunes it", Usage: "send buffer `SIZE` of sockets"},
		&flagtype.Size{Name: "rcvbuf", Destination: &f.receiveBuffer, Hidden: true, DefaultText: "as the system tunes it", Usage: "receive buffer `SIZE` of sockets"},
		&cli.BoolFlag{Name: "ktls", Destination: &f.ktls, Sources: env.Vars("WARP_KTLS"), Hidden: true,
			Usage: "with --tls: encrypt in the kernel; an error if that is not possible"},
	}
}

// checksumNames returns the values of --checksum. MD5 is what other tools call a
// Content-MD5; the checksum is MD5CS.
func checksumNames() flagtype.Choices {
	var names flagtype.Choices
	for _, c := range store.Checksums() {
		names = append(names, string(c))
	}
	return append(names, "MD5")
}

// check returns an error if flags contradict each other. tls and signature belong to the target.
func (f *OptionFlags) check(tls bool, signature string) error {
	if f.Checksum == "MD5" {
		f.Checksum, f.md5 = "", true
	}
	switch {
	case f.Encrypt && f.sseS3, f.Encrypt && f.kmsKey != "", f.sseS3 && f.kmsKey != "":
		return exit.Usagef("--encrypt, --sse-s3-encrypt and --sse-kms-key cannot be combined")
	case f.Encrypt && !tls:
		return exit.Usagef("--encrypt needs --tls: every request contains the key")
	case f.Checksum != "" && f.md5:
		return exit.Usagef("--checksum and --md5 cannot be combined")
	case f.Checksum != "" && signature == "S3V2":
		return exit.Usagef("--checksum cannot be used with --signature=S3V2: a checksum after the payload is part of V4 signatures")
	case f.noMultipart && f.partSize > 0:
		return exit.Usagef("--part.size and --disable-multipart cannot be combined")
	case f.partSize != 0 && CheckPartSize(f.partSize) != nil:
		return CheckPartSize(f.partSize)
	case (f.clientCert == "") != (f.clientKey == ""):
		return exit.Usagef("--client-cert and --client-key must be given together")
	case !tls && f.clientCert != "":
		return exit.Usagef("--client-cert needs --tls")
	case !tls && f.http2:
		return exit.Usagef("--http2 needs --tls: HTTP/2 is negotiated during the TLS handshake")
	case !tls && f.ktls:
		return exit.Usagef("--ktls needs --tls")
	case f.sendBuffer > maxBuffer, f.receiveBuffer > maxBuffer:
		return exit.Usagef("--sndbuf and --rcvbuf are at most %s", flagtype.FormatSize(maxBuffer))
	case f.ktls:
		return exit.Errorf("--ktls: %s", dial.WhyNoKTLS()).WithHint("leave out --ktls")
	}
	return nil
}

// CheckPartSize refuses a --part.size beyond the limits of S3.
func CheckPartSize(n int64) error {
	if n < 5<<20 || n > 5<<30 {
		return exit.Usagef("--part.size=%s is not between 5MiB and 5GiB, the limits of S3", flagtype.FormatSize(n))
	}
	return nil
}

// maxBuffer is more than any system grants a socket.
const maxBuffer = 1 << 30

// OnlyUploads returns the name of a given flag that only uploads have, "" if there is none.
func (f *OptionFlags) OnlyUploads() string {
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"sse-s3-encrypt", f.sseS3}, {"sse-kms-key", f.kmsKey != ""}, {"checksum", f.Checksum != ""}, {"md5", f.md5},
		{"storage-class", f.class != ""}, {"disable-multipart", f.noMultipart}, {"part.size", f.partSize > 0},
		{"add-metadata", len(f.metadata) > 0}, {"tag", len(f.tags) > 0},
	} {
		if o.given {
			return "--" + o.name
		}
	}
	return ""
}

// beyondEmbedded names an option that the embedded store does not do, "" if
// none is given. It refuses such requests too, but each by itself.
func (f *OptionFlags) beyondEmbedded() string {
	switch {
	case f.Encrypt:
		return "--encrypt"
	case f.sseS3:
		return "--sse-s3-encrypt"
	case f.kmsKey != "":
		return "--sse-kms-key"
	case len(f.tags) > 0:
		return "--tag"
	case f.class != "" && f.class != "STANDARD":
		return "--storage-class=" + f.class
	case f.Checksum != "" && !slices.Contains(embeddedChecksums(), store.Checksum(f.Checksum)):
		return "--checksum=" + f.Checksum
	case f.lookup == store.LookupHost:
		return "--lookup=host"
	case f.http2:
		return "--http2"
	case f.clientCert != "", f.clientKey != "":
		return "--client-cert"
	case f.ktls:
		return "--ktls"
	}
	return ""
}

// embeddedChecksums returns the checksums that the embedded store verifies.
func embeddedChecksums() []store.Checksum {
	return []store.Checksum{store.ChecksumCRC32, store.ChecksumCRC32FO, store.ChecksumCRC32C, store.ChecksumCRC32CFO, store.ChecksumCRC64NVME,
		store.ChecksumSHA1, store.ChecksumSHA256}
}

// CheckForm refuses flags that an upload by form does not support. What uploads by
// form; class says that it supports storage classes.
func (f *OptionFlags) CheckForm(what string, class bool) error {
	const leave = "leave it out"
	switch {
	case f.Checksum != "":
		return exit.Usagef("--checksum cannot be used with %s: a form has no trailer for a checksum", what).WithHint(leave)
	case f.md5:
		return exit.Usagef("--md5 cannot be used with %s: a form has no Content-MD5", what).WithHint(leave)
	case f.partSize > 0:
		return exit.Usagef("--part.size cannot be used with %s: a form is a single request", what).WithHint(leave)
	case f.class != "" && !class:
		return exit.Usagef("--storage-class cannot be used with %s: MinIO writes its copies without one", what).WithHint(leave)
	}
	return nil
}

// options returns the options, with a new key for --encrypt.
func (f *OptionFlags) options() (o store.Options, err error) {
	o = store.Options{
		StorageClass: f.class, Checksum: store.Checksum(f.Checksum), MD5: f.md5,
		DisableMultipart: f.noMultipart, PartSize: f.partSize, Lookup: f.lookup, Timeout: f.Timeout, ListTimeout: f.listTimeout,
		HTTP2: f.http2, NoKeepAlive: f.noKeepAlive, SendBuffer: int(f.sendBuffer), ReceiveBuffer: int(f.receiveBuffer),
		ClientCert: f.clientCert, ClientKey: f.clientKey, NoRepeat: f.NoRepeat,
	}
	switch {
	case f.Encrypt:
		o.Encryption.Kind = store.SSEC
		_, err = rand.Read(o.Encryption.Key[:])
	case f.sseS3:
		o.Encryption.Kind = store.SSES3
	case f.kmsKey != "":
		o.Encryption = store.Encryption{Kind: store.SSEKMS, KeyID: f.kmsKey}
	}
	if err == nil {
		o.Metadata, err = attributes("--add-metadata", f.metadata)
	}
	if err == nil {
		o.Tags, err = attributes("--tag", f.tags)
	}
	if err == nil {
		o.SourceIPs, err = sourceAddresses(f.sourceIP)
	}
	return o, err
}

// attributes reads KEY=VALUE and KEY=rand:N.
func attributes(flag string, given []string) ([]store.Attribute, error) {
	var all []store.Attribute
	for _, pair := range given {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, exit.Usagef("%s: %q is not KEY=VALUE", flag, pair)
		}
		a := store.Attribute{Key: key, Value: value}
		if n, random := strings.CutPrefix(value, "rand:"); random {
			count, err := strconv.Atoi(n)
			if err != nil || count < 1 || count > 2048 {
				return nil, exit.Usagef("%s: %q does not say how many random characters: write %s=rand:N with N from 1 to 2048", flag, pair, key)
			}
			a = store.Attribute{Key: key, Random: count}
		}
		all = append(all, a)
	}
	return all, nil
}

// sourceAddresses reads --source-ip and makes sure that the addresses are
// this machine's.
func sourceAddresses(spec string) ([]netip.Addr, error) {
	if spec == "" {
		return nil, nil
	}
	names, err := store.ParseHosts(spec)
	if err != nil {
		return nil, exit.Usagef("--source-ip: %w", err)
	}
	var all []netip.Addr
	for _, name := range names {
		ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
		if err != nil {
			return nil, exit.Usagef("--source-ip: %q is not an IP address", name)
		}
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, 0)))
		if err != nil {
			return nil, exit.Errorf("--source-ip: %s is not an address of this machine", name)
		}
		l.Close()
		all = append(all, ip)
	}
	return all, nil
}
