package cli

import "context"

func mergeLogs(ctx context.Context, inv *invocation, benchdata string) error { return nil }
