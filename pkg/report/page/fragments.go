package page

import (
	"bytes"
	"encoding/json"
)

// A fragment is a part of a page in the form that a live page receives.
type fragment struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// fragments is a page without its constant parts.
type fragments struct {
	Title    string     `json:"title"`
	Top      string     `json:"top"`
	Nav      string     `json:"nav"`
	Sections []fragment `json:"sections"`
}

// Fragments returns the page as a JSON document, for a page that shows an earlier state of it.
func (p *Page) Fragments() ([]byte, error) {
	f := fragments{Title: p.Title, Sections: []fragment{}}
	var err error
	if f.Top, err = p.piece("top", p); err != nil {
		return nil, err
	}
	if f.Nav, err = p.piece("nav", p); err != nil {
		return nil, err
	}
	for i := range p.Sections {
		html, err := p.piece("section", &p.Sections[i])
		if err != nil {
			return nil, err
		}
		f.Sections = append(f.Sections, fragment{p.Sections[i].ID, html})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it is part of an event, not of a page
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func (p *Page) piece(name string, data any) (string, error) {
	var b bytes.Buffer
	err := layout().ExecuteTemplate(&b, name, data)
	return b.String(), err
}
