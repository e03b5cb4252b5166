package teststore

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// AzuritePath is the path below which Azurite has the account that emulators have.
const AzuritePath = "/devstoreaccount1"

// npmInstall installs a package of npm, and makes a program that runs it.
func npmInstall(ctx context.Context, r recipe, dir string, log io.Writer) error {
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, r.source+"@"+r.version)
	if err := runQuietly(cmd, dir, log); err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	program := "#!/bin/sh\nexec node \"$(dirname \"$0\")/node_modules/.bin/" + Azurite + "\" \"$@\"\n"
	return os.WriteFile(filepath.Join(bin, Azurite), []byte(program), 0o755)
}

// launchAzurite starts Azurite, which keeps everything in memory and checks signatures.
func (s *Store) launchAzurite(ctx context.Context, binary string, o Options) error {
	addrs, err := freePorts(1)
	if err != nil {
		return err
	}
	s.Endpoints, s.Endpoint, s.Provider, s.Path = addrs, addrs[0], "azure", AzuritePath
	s.AccessKey, s.SecretKey = "", "" // which everybody knows
	host, port, err := net.SplitHostPort(s.Endpoint)
	if err != nil {
		return err
	}
	err = s.run(binary, o.Env, "--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--blobHost", host, "--blobPort", port)
	if err != nil {
		return err
	}
	return s.awaitReady(ctx, answersAnyone(s.Endpoint))
}
