package runfile

import (
	"maps"
	"slices"
)

// plainGroups only put keys together. Any setting may be in any of them, or right below warp.
func plainGroups() []string { return []string{"remote", "params", "io", "advanced"} }

// prefixGroups returns groups whose name is a part of what the keys in them mean.
func prefixGroups() []string { return []string{"analyze", "obj", "autoterm", "distribution", "sweep"} }

// renames returns the keys whose flag is called something else, with the groups that they are in.
func renames() map[string]string {
	return map[string]string{
		"sse-c-encrypt":            "encrypt",
		"server-profile":           "serverprof",
		"bench-data":               "benchdata",
		"no-prefix":                "noprefix",
		"no-clear":                 "noclear",
		"analyze.verbose":          "analyze.v",
		"analyze.skip-duration":    "analyze.skip",
		"analyze.segment-duration": "analyze.dur",
		"analyze.filter-op":        "analyze.op",
		"obj.part-size":            "part.size",
		"obj.versions":             "versions",
		"obj.rand-size":            "obj.randsize",
		"obj.parts":                "parts",
		"autoterm.enabled":         "autoterm",
		"distribution.get":         "get-distrib",
		"distribution.stat":        "stat-distrib",
		"distribution.put":         "put-distrib",
		"distribution.delete":      "delete-distrib",
		"assertions":               "assert",
	}
}

// flagOf returns the name of a key on the command line.
func flagOf(key string) string {
	if flag, ok := renames()[key]; ok {
		return flag
	}
	return key
}

// A Key is one way to write a setting.
type Key struct {
	Group string // "" where it is in a plain group, or right below warp
	Name  string
	Flag  string
}

// Keys returns all ways to write the given flags, in the order of the flags: by its own name, by the name that files know it
// by, and in its group.
func Keys(flags []string) []Key {
	var all []Key
	others := slices.Sorted(maps.Keys(renames()))
	for _, flag := range flags {
		all = append(all, Key{Name: flag, Flag: flag})
		if group, name := split(flag); group != "" {
			all = append(all, Key{Group: group, Name: name, Flag: flag})
		}
		for _, other := range others {
			if renames()[other] != flag {
				continue
			}
			group, name := split(other)
			all = append(all, Key{Group: group, Name: name, Flag: flag})
		}
	}
	return all
}

// split takes a prefix group off a key.
func split(key string) (group, name string) {
	for _, g := range prefixGroups() {
		if len(key) > len(g)+1 && key[:len(g)+1] == g+"." {
			return g, key[len(g)+1:]
		}
	}
	return "", key
}
