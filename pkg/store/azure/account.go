package azure

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/provider"
	"warp/pkg/store/tokens"
)

// The well-known account of emulators.
const (
	emulatorAccount = "devstoreaccount1"
	emulatorPath    = "/" + emulatorAccount
	emulatorKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	emulatorBlobs   = "http://127.0.0.1:10000/" + emulatorAccount
)

// A connection is a parsed connection string.
type connection struct {
	account, key, sas string
	blobs, files      string // endpoints
}

// readConnection parses a connection string: NAME=VALUE pairs separated by semicolons.
func readConnection(text string) (c connection, err error) {
	scheme, suffix := "https", "core.windows.net"
	for pair := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if name == "" && !ok {
			continue
		}
		if !ok {
			return c, errors.New("AZURE_STORAGE_CONNECTION_STRING is not a connection string: write NAME=VALUE pairs with semicolons between them")
		}
		switch strings.ToLower(name) {
		case "usedevelopmentstorage":
			if strings.EqualFold(value, "true") {
				c = connection{account: emulatorAccount, key: emulatorKey, blobs: emulatorBlobs}
			}
		case "accountname":
			c.account = value
		case "accountkey":
			c.key = value
		case "sharedaccesssignature":
			c.sas = value
		case "blobendpoint":
			c.blobs = value
		case "dfsendpoint":
			c.files = value
		case "defaultendpointsprotocol":
			scheme = strings.ToLower(value)
		case "endpointsuffix":
			suffix = value
		}
	}
	if c.account != "" {
		c.blobs = cmp.Or(c.blobs, scheme+"://"+c.account+".blob."+suffix)
		c.files = cmp.Or(c.files, scheme+"://"+c.account+".dfs."+suffix)
	}
	return c, nil
}

// hostFromEnv returns the host that the variables of Azure's own tools name, and the variable or
// flag that it comes from. It is a host of Blob Storage or, with lake, of Data Lake Storage. The
// access key is the name of an account.
func hostFromEnv(id *provider.Identity, lake bool) (host, from string, err error) {
	c, err := readConnection(id.Getenv("AZURE_STORAGE_CONNECTION_STRING"))
	if err != nil {
		return "", "", err
	}
	service, host, from := "blob", c.blobs, "AZURE_STORAGE_CONNECTION_STRING"
	if lake {
		service, host = "dfs", c.files
	}
	account := cmp.Or(id.Access, id.Getenv("AZURE_STORAGE_ACCOUNT"))
	switch {
	case account != "" && account != c.account:
		if from = "--access-key"; id.Access == "" {
			from = "AZURE_STORAGE_ACCOUNT"
		}
		host = "https://" + account + "." + service + ".core.windows.net"
	case host == "" && lake && c.account != "":
		return "", "", errors.New("AZURE_STORAGE_CONNECTION_STRING names no endpoint of Data Lake Storage: name it with --host")
	case host == "":
		return "", "", fmt.Errorf("the storage account is not known: use --host=https://ACCOUNT.%s.core.windows.net, or set AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING", service)
	}
	return strings.TrimSuffix(host, "/"), from, nil
}

// Serves reports whether the name of a host, with or without port, belongs to Blob Storage.
func Serves(host string) bool { return serves(host, ".blob.") }

// ServesLake reports whether the name of a host, with or without port, belongs to Data Lake
// Storage.
func ServesLake(host string) bool { return serves(host, ".dfs.") }

// serves looks for the service in a name of Azure's clouds: ACCOUNT.blob.core.windows.net and, in
// other clouds, core.chinacloudapi.cn and core.usgovcloudapi.net. Accounts with DNS zones have one
// more label.
func serves(host, service string) bool {
	name := strings.ToLower(host)
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	for _, cloud := range []string{".core.windows.net", ".storage.azure.net", ".core.chinacloudapi.cn", ".core.usgovcloudapi.net"} {
		if account, ok := strings.CutSuffix(name, cloud); ok {
			return strings.Contains(account+".", service) && !strings.HasPrefix(account, ".")
		}
	}
	return false
}

// identify completes cfg, which has its hosts, with credentials from the first source that has any,
// and returns the name of that source. Variables in the environment are used only for the account
// that they belong to.
func identify(id *provider.Identity, cfg *store.Config) (source string, secrets []string, err error) {
	cfg.Credentials, cfg.Settings = store.Keys{}, nil
	c, err := readConnection(id.Getenv("AZURE_STORAGE_CONNECTION_STRING"))
	if err != nil {
		return "", nil, err
	}
	account := id.Getenv("AZURE_STORAGE_ACCOUNT")
	useKey := func(account, key string) []string {
		cfg.Credentials = store.Keys{AccessKey: account, SecretKey: key}
		return []string{key}
	}
	useSAS := func(sas string) (secrets []string) {
		if sas, secrets, err = readSAS(sas); err == nil {
			cfg.Settings = store.EncodeSettings(Settings{SAS: sas})
		}
		return secrets
	}
	switch key := cmp.Or(id.Getenv("AZURE_STORAGE_KEY"), id.Getenv("AZURE_STORAGE_ACCESS_KEY")); {
	case id.Token != "" && isSAS(id.Token):
		source, secrets = "--access-token (a shared access signature)", useSAS(id.Token)
	case id.Token != "":
		cfg.Bearer.Token, source, secrets = id.Token, "--access-token", []string{id.Token}
	case id.Access != "":
		source, secrets = "flags or WARP_* variables", useKey(id.Access, id.Secret)
	case id.Metadata:
		source, cfg.Bearer.Metadata = "the metadata server", true
	case c.key != "" && of(cfg, c.account):
		source, secrets = "AZURE_STORAGE_CONNECTION_STRING", useKey(c.account, c.key)
	case c.sas != "" && (c.account == "" || of(cfg, c.account)):
		source, secrets = "AZURE_STORAGE_CONNECTION_STRING (a shared access signature)", useSAS(c.sas)
	case key != "" && account != "" && of(cfg, account):
		source, secrets = "AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY", useKey(account, key)
	case id.Getenv("AZURE_STORAGE_SAS_TOKEN") != "" && (account == "" || of(cfg, account)):
		source, secrets = "AZURE_STORAGE_SAS_TOKEN", useSAS(id.Getenv("AZURE_STORAGE_SAS_TOKEN"))
	case id.Getenv("AZURE_TENANT_ID") != "" && id.Getenv("AZURE_CLIENT_ID") != "" && !tokens.Exposed(cfg):
		source, secrets, err = useClient(id.Getenv, cfg)
	case of(cfg, emulatorAccount) && tokens.Local(cfg.Hosts...):
		source, secrets = "the emulator's well-known account", useKey(emulatorAccount, emulatorKey)
	default:
		source = "nowhere (anonymous requests)"
	}
	if err == nil && (cfg.Bearer.Given() || cfg.Settings != nil) && tokens.Exposed(cfg) {
		err = fmt.Errorf("%s would send a secret to %s over plain HTTP, where anybody on the way can use it: add --tls", source, cfg.Hosts[0].Name)
	}
	return source, secrets, err
}

// of reports whether all hosts belong to an account, by their names or else by their paths.
func of(cfg *store.Config, account string) bool {
	for _, a := range cfg.Hosts {
		name, _, _ := strings.Cut(a.Name, ".")
		azure := Serves(a.Name) || ServesLake(a.Name)
		if azure && name != account || !azure && strings.TrimPrefix(a.Path, "/") != account {
			return false
		}
	}
	return account != "" && len(cfg.Hosts) > 0
}

// isSAS reports whether s is a shared access signature rather than a token, which has no sig
// parameter.
func isSAS(text string) bool {
	values, err := url.ParseQuery(strings.TrimPrefix(text, "?"))
	return err == nil && values.Get("sig") != "" && values.Get("sv") != ""
}

// readSAS returns the parameters of a shared access signature, sorted and escaped.
func readSAS(text string) (sas string, secrets []string, err error) {
	values, err := url.ParseQuery(strings.TrimPrefix(text, "?"))
	if err != nil || values.Get("sig") == "" {
		return "", nil, errors.New("the shared access signature has no sig parameter: want sv=…&sig=…")
	}
	sas = values.Encode()
	return sas, []string{text, sas, values.Get("sig"), url.QueryEscape(values.Get("sig"))}, nil
}
