package s3

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7/pkg/tags"

	"warp/pkg/store"
)

// CheckOptions rejects options that contradict each other or that S3 does not allow.
func CheckOptions(o *store.Options, tls bool) error {
	switch {
	case o.Encryption.Kind == store.SSEC && !tls:
		return errors.New("SSE-C sends the key with every request, so it needs TLS")
	case o.Encryption.Kind == store.SSEKMS && o.Encryption.KeyID == "":
		return errors.New("SSE-KMS needs the id of a key")
	case !slices.Contains([]store.EncryptionKind{store.NoEncryption, store.SSEC, store.SSES3, store.SSEKMS}, o.Encryption.Kind):
		return fmt.Errorf("unknown encryption %q", o.Encryption.Kind)
	case o.Checksum != store.NoChecksum && !slices.Contains(store.Checksums(), o.Checksum):
		return fmt.Errorf("unknown checksum %q", o.Checksum)
	case o.Checksum != store.NoChecksum && o.MD5:
		return errors.New("an upload carries either a checksum or a Content-MD5")
	case o.DisableMultipart && o.PartSize > 0:
		return errors.New("a part size has no effect without multipart uploads")
	case !slices.Contains([]string{"", store.LookupAuto, store.LookupHost, store.LookupPath}, o.Lookup):
		return fmt.Errorf("unknown lookup %q: use %s, %s or %s", o.Lookup, store.LookupHost, store.LookupPath, store.LookupAuto)
	case (o.ClientCert == "") != (o.ClientKey == ""):
		return errors.New("a client certificate needs its key, and a key its certificate")
	case o.PartSize != 0 && (o.PartSize < minPart || o.PartSize > maxPart):
		return errors.New("parts have 5 MiB to 5 GiB")
	case !tls && (o.HTTP2 || o.ClientCert != "" || o.KTLS):
		return errors.New("HTTP/2, client certificates and kernel TLS need TLS")
	}
	if err := checkMetadata(o.Metadata); err != nil {
		return err
	}
	return checkTags(o.Tags)
}

// Limits of S3.
const (
	minPart     = 5 << 20
	maxPart     = 5 << 30
	maxMetadata = 2 << 10
)

func checkMetadata(all []store.Attribute) error {
	size, seen := 0, make(map[string]bool)
	for i := range all {
		a := &all[i]
		value := string(a.AppendValue(nil, ""))
		switch {
		case a.Key == "" || strings.ContainsFunc(a.Key, unfitForName):
			return fmt.Errorf("metadata %q: a key consists of letters, digits, dots, - and _", a.Key)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) || strings.TrimSpace(value) != value:
			return fmt.Errorf("metadata %q: a value consists of ASCII characters, without a space at either end", a.Key)
		case seen[strings.ToLower(a.Key)]:
			return fmt.Errorf("metadata %q is given twice", a.Key)
		}
		seen[strings.ToLower(a.Key)] = true
		size += len(a.Key) + len(value)
	}
	if size > maxMetadata {
		return fmt.Errorf("metadata of %d bytes is more than the %d that S3 allows", size, maxMetadata)
	}
	return nil
}

func unfitForName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
}

func checkTags(all []store.Attribute) error {
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
