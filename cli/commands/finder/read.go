package finder

import (
	"encoding/json"

	"warp/cli/exit"
	"warp/cli/files/series"
	"warp/pkg/find"
)

// Read reads the result of a search from its folder.
func Read(path string) (*find.Report, error) {
	m, err := series.Read(path, Kind)
	if err != nil {
		return nil, err
	}
	if len(m.Plan) == 0 {
		return nil, exit.Errorf("the search in %s has not ended, so it has no result", path)
	}
	var r find.Report
	if err := json.Unmarshal(m.Plan, &r); err != nil || r.Version != 1 {
		return nil, exit.Errorf("the manifest of %s is damaged: it has no result of a search", path)
	}
	return &r, nil
}
