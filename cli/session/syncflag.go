package session

import (
	"context"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
)

// syncFlag is when to begin to measure.
type syncFlag struct{ Text string }

func (s *syncFlag) Flag() cli.Flag {
	return &cli.StringFlag{Name: "syncstart", Destination: &s.Text, Hidden: true, Validator: func(text string) error {
		_, err := startTime(text, time.Now())
		return err
	}, Usage: "start the measurement at `TIME`, hh:mm or RFC 3339, so that runs on several machines start together"}
}

// soon is how far ahead a time without a date may be: beyond it, it has most
// likely just passed.
const soon = 12 * time.Hour

func startTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		if at.Before(now) {
			return at, flagtype.Wrong("%s has passed", text)
		}
		return at, nil
	}
	clock, err := time.ParseInLocation("15:04", text, now.Location())
	if err != nil {
		return clock, flagtype.Wrong("%q is not a time; write it like 15:04 or 2006-01-02T15:04:05Z", text)
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if at.Before(now) {
		at = time.Date(now.Year(), now.Month(), now.Day()+1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	if at.Sub(now) > soon {
		return at, flagtype.Wrong("%s is more than 12 hours away; write the date too, like %s", text, at.Format(time.RFC3339))
	}
	return at, nil
}

// at returns the time to begin; zero is at once. The flag was checked before.
func (s *syncFlag) at() time.Time {
	at, _ := startTime(s.Text, time.Now())
	return at
}

// gate waits for the time, in a run of this process.
func (s *syncFlag) gate(inv *command.Invocation) func(context.Context) (time.Time, error) {
	start := s.at()
	if start.IsZero() {
		return nil
	}
	return func(context.Context) (time.Time, error) {
		if time.Now().After(start) {
			return start, exit.Errorf("--syncstart=%s has passed while the run was prepared", s.Text).WithHint("start earlier, or choose a later time")
		}
		inv.Notef("ready; the measurement starts at %s", start.Format("15:04:05"))
		return start, nil
	}
}
