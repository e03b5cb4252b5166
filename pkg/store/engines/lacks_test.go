package engines

import (
	"testing"

	"warp/pkg/store"
	"warp/pkg/store/provider"
)

// A store lacks what its engine cannot do, so that warp refuses commands and flags before it sends anything.
func TestLacksWhatEnginesCannotDo(t *testing.T) {
	t.Parallel()
	is := map[provider.Feature]func(store.Engine) bool{
		provider.UploadParts: implements[store.Multipart],
		provider.PartCopies:  implements[store.PartCopier],
		provider.Copies:      implements[store.Copier],
		provider.Tags:        implements[store.Tagger],
		provider.ObjectLock:  implements[store.Retainer],
		provider.FanOuts:     implements[store.FanOuter],
		provider.Forms:       implements[store.Poster],
	}
	for _, p := range Providers() {
		cfg := &store.Config{Provider: p.Name, Hosts: []store.Address{{Name: "127.0.0.1:1"}}, Concurrency: 1}
		driver, err := p.Open(cfg)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		engine, err := driver.Engine(cfg, cfg.Hosts[0], new(store.Counters))
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		defer engine.Close()
		for feature, can := range is {
			if _, lacks := p.Lacks[feature]; !lacks && !can(engine) {
				t.Errorf("the engine of %s has no %s, and Lacks does not say so", p.Title, feature)
			}
		}
	}
}

func implements[T any](e store.Engine) bool {
	_, ok := e.(T)
	return ok
}
