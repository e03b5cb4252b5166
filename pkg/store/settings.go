package store

import (
	"encoding/json"
	"fmt"
)

// EncodeSettings returns a store's own settings for [Config.Settings]. They must be of a type that
// always encodes to JSON.
func EncodeSettings(settings any) json.RawMessage {
	data, err := json.Marshal(settings)
	if err != nil {
		panic("store: settings cannot be encoded: " + err.Error())
	}
	return data
}

// DecodeSettings decodes the store's own settings into a value of the type that its package
// defines. Without settings, it leaves the value unchanged.
func (cfg *Config) DecodeSettings(into any) error {
	if len(cfg.Settings) == 0 {
		return nil
	}
	if err := json.Unmarshal(cfg.Settings, into); err != nil {
		return fmt.Errorf("the settings of the store are not valid: %w", err)
	}
	return nil
}
