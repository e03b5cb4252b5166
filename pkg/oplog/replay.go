package oplog

// A Replay describes the log whose requests a run sends again.
type Replay struct {
	Log      string  `json:"log"`      // name of its file, without the folder
	Run      string  `json:"run"`      // its run
	Speed    float64 `json:"speed"`    // 2 = the requests are due twice as fast
	Requests int64   `json:"requests"` // of the log's measured part, including those that cannot be sent
	// NotSent are the requests that cannot be sent again.
	NotSent []NotSent `json:"not_sent,omitempty"`
	// AssumedSizes is the number of objects whose size the log does not show. They were uploaded with AssumedBytes.
	AssumedSizes int64 `json:"assumed_sizes,omitempty"`
	AssumedBytes int64 `json:"assumed_bytes,omitempty"`
}

// NotSent are requests of a log that were not sent again for the same reason.
type NotSent struct {
	Op    string `json:"op"` // "" = of any operation
	Why   string `json:"why"`
	Count int64  `json:"count"`
}
