package aisloader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"warp/cli/exit"
	"warp/cli/session"
	"warp/internal/wholefile"
	"warp/pkg/store"
	"warp/pkg/store/ais"
)

// useAIStore talks to AIStore's own API.
func (f *loaderFlags) useAIStore(p *loaderPlan) (err error) {
	for _, name := range []string{"s3profile", "access-key", "secret-key", "region"} {
		if f.given(name) {
			return exit.Usagef("--%s needs --s3endpoint: without it, requests go to AIStore", name)
		}
	}
	if f.Target.Host, err = f.gateway(); err != nil {
		return err
	}
	f.Target.ProviderName = "ais"
	f.Target.AccessKey, f.Target.SecretKey, f.Target.Region = "", "", "" // variables for S3
	f.Target.CredentialsFile = f.tokenFile
	f.Target.Options.Checksum = loaderChecksums()[f.checksum]
	f.settings = ais.Settings{Backend: p.bucket.Provider, Latest: f.latest, Cached: f.cached}
	if f.settings.Properties, err = bucketProperties(f.bucketProps); err != nil {
		return exit.Usagef("--bprops: %w", err)
	}
	if f.cached && p.bucket.Provider == "ais" {
		return exit.Usagef("--cached is for buckets behind AIStore, but %s is its own: name one such as s3://%s", p.bucket.Name, p.bucket.Name)
	}
	if f.etl != "" || f.etlSpec != "" {
		p.transform, err = f.transformation()
		f.settings.ETL = p.transform.Name
	}
	f.Target.Settings = store.EncodeSettings(f.settings)
	return err
}

// gateway returns the address of AIStore that the flags and AIS_ENDPOINT come to.
func (f *loaderFlags) gateway() (string, error) {
	host := f.env.Value("AIS_ENDPOINT")
	if host == "" {
		host = fmt.Sprintf("%s:%d", f.ip, f.port)
	} else if f.given("ip") && f.ip != "localhost" && f.ip != "127.0.0.1" {
		return "", exit.Usagef("AIS_ENDPOINT=%s and --ip=%s cannot be combined: both name the gateway", host, f.ip)
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	return host, nil
}

// bucketProperties reads properties as aisloader does, which takes them without their braces too.
func bucketProperties(text string) ([]byte, error) {
	if text = strings.TrimRight(strings.TrimSpace(text), ","); text == "" {
		return nil, nil
	}
	if !strings.HasPrefix(text, "{") {
		text = "{" + text + "}"
	}
	var properties map[string]any
	if err := json.Unmarshal([]byte(text), &properties); err != nil {
		return nil, fmt.Errorf("not a JSON object of properties: %w", err)
	}
	return []byte(text), nil
}

// transformation returns the transformation of --etl or --etl-spec, under a name of its own.
func (f *loaderFlags) transformation() (t store.Transformation, err error) {
	t.Name = "warp-" + strings.ToLower(session.NewID()+session.NewID())
	switch {
	case f.etl != "" && f.etlSpec != "":
		return t, exit.Usagef("--etl and --etl-spec cannot be combined")
	case f.verifyHash && f.given("verifyhash"):
		return t, exit.Usagef("--verifyhash cannot be combined with --etl and --etl-spec: a transformed object has another checksum")
	}
	if f.etlSpec != "" {
		if t.Spec, err = wholefile.Read(f.etlSpec, wholefile.Small); err != nil {
			return t, exit.Usagef("--etl-spec: %w", err)
		}
		return t, nil
	}
	var ok bool
	if t.Spec, ok = ais.BuiltInSpec(f.etl); !ok {
		return t, exit.Usagef("--etl: %q is not one of tar2tf, md5 and echo", f.etl).WithHint("give the specification of another one with --etl-spec")
	}
	return t, nil
}

// setProperties gives a bucket that exists the properties of --bprops. A new one gets them when it is made.
func (l *aisloaderLoad) setProperties(ctx context.Context) error {
	client, bucket := l.Target.Client, l.plan.opts.Bucket
	if l.flags.settings.Properties == nil {
		return nil
	}
	exists, err := client.BucketExists(ctx, bucket)
	if err != nil || !exists {
		return err
	}
	if err := client.SetProperties(ctx, bucket); err != nil {
		return fmt.Errorf("--bprops: %w", err)
	}
	return nil
}

// startTransform starts the transformation of the run, if it has one.
func (l *aisloaderLoad) startTransform(ctx context.Context) error {
	t := l.plan.transform
	if t.Name == "" {
		return nil
	}
	l.Session.Notef("starting the transformation %s", t.Name)
	err := l.Target.Client.Use(func(h *store.Host) error {
		transformer, ok := h.Transforms()
		if !ok {
			return store.ErrUnsupported
		}
		return transformer.StartTransform(ctx, t)
	})
	var refused *store.Error
	l.transforms = !errors.As(err, &refused) || refused.Status == 0 // without an answer it may run
	if err != nil {
		return exit.Errorf("start the transformation: %w", err)
	}
	return nil
}

// stopTransform stops it, whatever the run came to.
func (l *aisloaderLoad) stopTransform(ctx context.Context) {
	if !l.transforms {
		return
	}
	l.transforms = false
	err := l.Target.Client.Use(func(h *store.Host) error {
		transformer, _ := h.Transforms()
		return transformer.StopTransform(context.WithoutCancel(ctx), l.plan.transform.Name)
	})
	if err != nil {
		l.Session.Warnf("the transformation %s may still run: %v", l.plan.transform.Name, err)
	}
}
