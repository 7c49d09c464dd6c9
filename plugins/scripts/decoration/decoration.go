// Package decoration is how entries of the community scripts look: names, descriptions, categories, notes. The data were extracted of the
// JSON files that the repositories community-scripts/ProxmoxVE and community-scripts/ProxmoxVED held until 2026; their licences are
// beside. Nothing of it decides what runs.
package decoration

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

//go:generate go run ../generate -out .

//go:embed decoration.jsonl
var rows []byte

//go:embed categories.json
var categories []byte

// Row is what is known of one entry.
type Row struct {
	Type string `json:"type"`
	Slug string `json:"slug"`
	// Scripts are the paths of the scripts that it describes, in the repository.
	Scripts     []string `json:"scripts,omitempty"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Categories  []int    `json:"categories,omitempty"`
	Docs        string   `json:"docs,omitempty"`
	Website     string   `json:"website,omitempty"`
	Logo        string   `json:"logo,omitempty"`
	Config      string   `json:"config,omitempty"`
	User        string   `json:"user,omitempty"`
	Password    string   `json:"password,omitempty"`
	Port        int      `json:"port,omitempty"`
	Notes       []Note   `json:"notes,omitempty"`
	// Created is a day, such as "2026-03-12".
	Created string `json:"created,omitempty"`
}

// Note is one note of a row.
type Note struct {
	Warning bool   `json:"warning,omitempty"`
	Text    string `json:"text"`
}

// Category is one category.
type Category struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// Set is all that is known.
type Set struct {
	Rows       []Row
	Categories []Category
	byScript   map[string]*Row
}

// Load gives the embedded data, which are read once. The set is everybody's and must not be changed.
var Load = sync.OnceValue(func() *Set {
	s := &Set{byScript: map[string]*Row{}}
	if err := json.Unmarshal(categories, &s.Categories); err != nil {
		panic(fmt.Sprintf("decoration: the embedded categories: %v", err))
	}
	lines := bufio.NewScanner(bytes.NewReader(rows))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(fmt.Sprintf("decoration: the embedded rows: %v", err))
		}
		s.Rows = append(s.Rows, r)
	}
	for i := range s.Rows {
		for _, script := range s.Rows[i].Scripts {
			if s.byScript[script] == nil {
				s.byScript[script] = &s.Rows[i]
			}
		}
	}
	return s
})

// Of gives the row that describes the script of a path; nil when there is none.
func (s *Set) Of(script string) *Row { return s.byScript[script] }
