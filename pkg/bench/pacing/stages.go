package pacing

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"warp/internal/human"
)

// maxStages limits the stages of a run.
const maxStages = 1000

// Limits of the rate of a stage, in requests/s.
const (
	minStageRate = 1.0 / 86400
	maxStageRate = 1e8
)

// ParseStages parses stages: TIME@RATE is a constant rate in requests per second, TIME@FROM..TO one that changes linearly.
// Commas separate them.
func ParseStages(text string) (stages []Stage, err error) {
	for item := range strings.SplitSeq(text, ",") {
		s, err := parseStage(strings.TrimSpace(item))
		if err != nil {
			return nil, fmt.Errorf("stage %q: %w", strings.TrimSpace(item), err)
		}
		stages = append(stages, s)
	}
	if len(stages) > maxStages {
		return nil, fmt.Errorf("%d stages are more than %d", len(stages), maxStages)
	}
	return stages, nil
}

func parseStage(item string) (s Stage, err error) {
	length, rates, ok := strings.Cut(item, "@")
	if !ok {
		return s, fmt.Errorf("want TIME@RATE or TIME@FROM..TO, such as 1m@1000 or 5m@1000..5000")
	}
	if s.Length, err = time.ParseDuration(strings.TrimSpace(length)); err != nil || s.Length < time.Second {
		return s, fmt.Errorf("%q is not a time of at least 1s, such as 30s or 5m", strings.TrimSpace(length))
	}
	from, to, ramp := strings.Cut(rates, "..")
	if s.From, err = parseRate(from); err != nil {
		return s, err
	}
	s.To = s.From
	if ramp {
		if s.To, err = parseRate(to); err != nil {
			return s, err
		}
	}
	if s.From == 0 && s.To == 0 {
		return s, fmt.Errorf("its rate is 0, so it would have no request")
	}
	return s, nil
}

func parseRate(text string) (float64, error) {
	text = strings.TrimSpace(text)
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(rate) || rate < 0 || rate > 0 && rate < minStageRate || rate > maxStageRate {
		return 0, fmt.Errorf("%q is not a number of requests per second", text)
	}
	return rate, nil
}

// String returns the stage as ParseStages parses it.
func (s Stage) String() string {
	if s.From == s.To {
		return human.Duration(s.Length) + "@" + formatRate(s.From)
	}
	return human.Duration(s.Length) + "@" + formatRate(s.From) + ".." + formatRate(s.To)
}

// Title describes the stage in words.
func (s Stage) Title() string {
	rates := formatRate(s.From)
	if s.From != s.To {
		rates += " to " + formatRate(s.To)
	}
	return rates + "/s for " + human.Duration(s.Length)
}

func formatRate(r float64) string { return strconv.FormatFloat(r, 'g', -1, 64) }

// StagesLength returns how long all stages take.
func StagesLength(stages []Stage) (sum time.Duration) {
	for _, s := range stages {
		sum += s.Length
	}
	return sum
}

// StageAt returns the number of the stage, from 0, at a time since the start. The end of a stage belongs to the next one, and that
// of the last one to itself.
func StageAt(stages []Stage, since time.Duration) int {
	for i, s := range stages {
		if since < s.Length || i == len(stages)-1 {
			return i
		}
		since -= s.Length
	}
	return 0
}
