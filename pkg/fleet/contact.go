package fleet

import (
	"fmt"
	"time"
)

// unheard is how long a client, which says something every second, is not heard
// until somebody is told: a connection that is made anew at once is no news.
const unheard = 3 * time.Second

// watchContacts says when a client is not heard any more, when it is back, and
// when it is given up, while the run goes on.
func (f *Fleet) watchContacts() {
	const often = 200 * time.Millisecond
	awake := time.Now() // since when nothing but the clients can be why they are not heard
	for looked := awake; pause(f.ctx, often); looked = time.Now() {
		if time.Since(looked) > 5*often {
			awake = time.Now() // this process itself was stopped, or starved
		}
		if time.Since(awake) > unheard {
			f.tellContacts(unheard)
		}
	}
}

// tellContacts tells once of each change. Whoever is told may be slow, so that
// the lock is not held then.
func (f *Fleet) tellContacts(most time.Duration) {
	var news []string
	f.mu.Lock()
	for _, l := range f.links {
		if text := l.news(most); text != "" {
			news = append(news, text)
		}
	}
	f.mu.Unlock()
	for _, text := range news {
		f.options.Warn("%s", text)
	}
}

// news is what has changed with the client since that was told last; "" for
// nothing. The fleet's lock is held.
func (l *link) news(most time.Duration) string {
	quiet := time.Since(l.contact)
	switch {
	case !l.admitted || l.told:
	case l.lost != nil && l.fleet.measures:
		l.told = true
		return fmt.Sprintf("client %s is given up (%v): its share will be missing", l.name(), l.lost)
	case l.lost != nil || l.gone != nil || l.status.Phase == Released: // that ends the run, or harms nothing; it is said there
	case quiet > most && !l.silent:
		l.silent = true
		return fmt.Sprintf("client %s is not reachable since %s; it goes on if it can, and is tried again until it was away for %v",
			l.name(), l.contact.Format("15:04:05"), l.fleet.options.Patience)
	case quiet <= most && l.silent:
		l.silent = false
		return fmt.Sprintf("client %s is back", l.name())
	}
	return ""
}
