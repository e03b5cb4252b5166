package oplog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"warp/internal/human"
)

const (
	// MaxMarks is how many marks a log may have.
	MaxMarks = 100
	// maxMarkText is how long the text of a mark may be, in characters.
	maxMarkText = 200
)

// A Mark says what somebody did to the store during a run, and when. The log has
// it as a comment before any row that ended after it.
type Mark struct {
	At   int64 // unix ns
	Text string
}

// Time returns the instant of the mark.
func (m Mark) Time() time.Time { return time.Unix(0, m.At).UTC() }

// Compare orders marks by time.
func (m Mark) Compare(o Mark) int {
	return cmp.Or(cmp.Compare(m.At, o.At), strings.Compare(m.Text, o.Text))
}

// markJSON is a Mark as it is written.
type markJSON struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// MarshalJSON writes the time as RFC 3339 with nanoseconds.
func (m Mark) MarshalJSON() ([]byte, error) {
	return json.Marshal(markJSON{m.Time(), m.Text})
}

// UnmarshalJSON parses the output of MarshalJSON.
func (m *Mark) UnmarshalJSON(b []byte) error {
	var j markJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.At.IsZero() {
		return errors.New("a mark has no time")
	}
	text := []rune(cleanText(j.Text))
	*m = Mark{j.At.UnixNano(), string(text[:min(len(text), maxMarkText)])}
	return nil
}

// cleanText is the text on one line, without what could steer a terminal.
func cleanText(text string) string {
	return strings.TrimSpace(human.OneLine(strings.ToValidUTF8(text, "\uFFFD")))
}

// MarkText returns the text as a mark has it, or why it is none.
func MarkText(text string) (string, error) {
	text = cleanText(text)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", errors.New("a mark needs a text that says what was done")
	case n > maxMarkText:
		return "", fmt.Errorf("the text of a mark has at most %d characters, and this one has %d", maxMarkText, n)
	}
	return text, nil
}

// A markComment is a line of the log about a mark.
type markComment struct {
	Mark Mark `json:"mark"`
}

// AddMark writes a mark. Rows that ended after it must come later.
func (w *Writer) AddMark(m Mark) error {
	if err := w.usable(); err != nil {
		return err
	}
	return w.comment(markComment{m})
}

// Marks returns the marks before the rows that Read returned last; at the end
// all of them. The first [MaxMarks] are kept.
func (r *Reader) Marks() []Mark { return r.marks[:r.marked:r.marked] }

// addMark keeps a mark of the log.
func (r *Reader) addMark(m Mark) {
	if len(r.marks) < MaxMarks {
		r.marks = append(r.marks, m)
	} else {
		r.moreMarks++
	}
}
