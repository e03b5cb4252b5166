package fleet

import (
	"fmt"
	"time"

	"warp/pkg/fleet/clock"
	"warp/pkg/fleet/protocol"
)

// unheard is how long a client, which sends something every second, may be
// silent before that is reported. A connection that is replaced at once is not
// worth a line.
const unheard = 3 * time.Second

// watchContacts says when a client is not heard any more, when it is back, and
// when it is given up, while the run goes on.
func (f *Fleet) watchContacts() {
	const often = 200 * time.Millisecond
	awake := time.Now() // since when nothing but the clients can be why they are not heard
	for looked := awake; clock.Sleep(f.ctx, often); looked = time.Now() {
		if time.Since(looked) > 5*often {
			awake = time.Now() // this process itself was stopped, or starved
		}
		if time.Since(awake) > unheard {
			f.reportContacts(unheard)
		}
	}
}

// reportContacts reports each change once. The lock is not held meanwhile, since
// writing a line may take long.
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

// contactChange says what has changed since the last report; "" = nothing. The
// fleet's lock is held.
func (l *link) contactChange(limit time.Duration) string {
	quiet := time.Since(l.contact)
	switch {
	case !l.admitted || l.reportedLost:
	case l.lost != nil && l.fleet.measures:
		l.reportedLost = true
		return fmt.Sprintf("client %s is given up (%v): its share will be missing", l.name(), l.lost)
	case l.lost != nil || l.gone != nil || l.status.Phase == protocol.Released: // that ends the run, or harms nothing; it is said there
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
