package cli

import (
	"context"
	"os"

	"warp/pkg/s3"
)

// credentials finds out as whom to talk to the store.
func (f *targetFlags) credentials(ctx context.Context, inv *invocation) (s3.ResolvedCredentials, error) {
	// A machine without a home folder has no shared configuration.
	home, _ := os.UserHomeDir()
	creds, err := s3.ResolveCredentials(ctx, s3.CredentialOptions{
		Access: f.accessKey, Secret: f.secretKey, Session: f.sessionToken,
		Profile: f.profile, Signature: f.signature, Home: home,
		Getenv: func(name string) string {
			value, _ := inv.env(name)
			return value
		},
	})
	if err != nil {
		return creds, runError("%w", err)
	}
	// Keys that did not come by flag or variable are secret all the same.
	if v, err := creds.GetWithContext(nil); err == nil {
		inv.hide.add(v.AccessKeyID, v.SecretAccessKey, v.SessionToken)
	}
	inv.debugf("credentials are from %s", creds.Source)
	return creds, nil
}
