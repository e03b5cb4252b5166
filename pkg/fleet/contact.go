package fleet

import (
	"fmt"
	"time"

	"warp/internal/pause"
	"warp/pkg/fleet/protocol"
)

// silenceLimit is how long a client, which sends something every second, may be
// silent before that is reported. A connection that is replaced at once is not
// reported.
const silenceLimit = 3 * time.Second

// watchContacts reports during the run when a client becomes silent, comes
// back, or is given up.
func (f *Fleet) watchContacts() {
	const often = 200 * time.Millisecond
	awake := time.Now() // since when this process has run without a pause
	for checked := awake; pause.For(f.ctx, often); checked = time.Now() {
		if time.Since(checked) > 5*often {
			awake = time.Now() // this process was suspended or starved
		}
		if time.Since(awake) > silenceLimit {
			f.reportContacts(silenceLimit)
		}
	}
}

// reportContacts reports each change once. It releases the lock for that,
// because writing a line may take long.
func (f *Fleet) reportContacts(limit time.Duration) {
	var news []string
	f.mu.Lock()
	for _, l := range f.links {
		if text := l.contactChange(limit); text != "" {
			news = append(news, text)
		}
	}
	f.mu.Unlock()
	for _, text := range news {
		f.options.Warnf("%s", text)
	}
}

// contactChange returns what has changed since the last report, or "". The
// caller holds the fleet's lock.
func (l *link) contactChange(limit time.Duration) string {
	quiet := time.Since(l.contact)
	switch {
	case !l.admitted || l.reportedLost:
	case l.lost != nil && l.fleet.measures:
		l.reportedLost = true
		return fmt.Sprintf("client %s is given up (%v): its share will be missing", l.name(), l.lost)
	case l.lost != nil || l.gone != nil || l.status.Phase == protocol.Released: // reported when it ends the run, or harmless
	case quiet > limit && !l.reportedSilent:
		l.reportedSilent = true
		return fmt.Sprintf("client %s is not reachable since %s; it goes on if it can, and is tried again until it was away for %v",
			l.name(), l.contact.Format("15:04:05"), l.fleet.options.Timeout)
	case quiet <= limit && l.reportedSilent:
		l.reportedSilent = false
		return fmt.Sprintf("client %s is back", l.name())
	}
	return ""
}
