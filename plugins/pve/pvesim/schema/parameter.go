package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Types of parameters.
const (
	String  = "string"
	Integer = "integer"
	Number  = "number"
	Boolean = "boolean"
	Array   = "array"
)

// Parameter says what a method takes under one name. Zero values are limits that are not there.
type Parameter struct {
	Name      string   `json:"-"` // "net[n]" stands for net0, net1 and so on
	Type      string   `json:"type"`
	Optional  Flag     `json:"optional"`
	Format    Format   `json:"format"`
	Enum      []string `json:"enum"`
	New9      []string `json:"new9"` // values of Enum that came with release 9
	Pattern   string   `json:"pattern"`
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinLength int      `json:"minLength"`
	MaxLength int      `json:"maxLength"`
	Requires  string   `json:"requires"` // another parameter that has to be sent with it
	Alias     string   `json:"alias"`
	// Default is what the server takes when nothing is sent, sometimes in words.
	Default json.RawMessage `json:"default"`
	// DefaultKey marks the key of a property string whose value may stand alone at its beginning.
	DefaultKey Flag `json:"default_key"`
	// Items describes the elements of an array.
	Items *Parameter `json:"items"`
	// Since is the release that brought it, empty for all that are known.
	Since string `json:"since"`

	once    sync.Once
	pattern *regexp.Regexp
}

// Flag is 0 or 1.
type Flag bool

// UnmarshalJSON takes everything but 0 for true.
func (f *Flag) UnmarshalJSON(raw []byte) error { *f = string(raw) != "0"; return nil }

// Format is the name of a format such as "pve-node", or the keys of a property string such as "virtio=…,bridge=vmbr0".
type Format struct {
	Name string

	raw  []byte
	once sync.Once
	keys map[string]*Parameter
}

// UnmarshalJSON reads a name or an object.
func (f *Format) UnmarshalJSON(raw []byte) error {
	if strings.HasPrefix(string(raw), "{") {
		f.raw = slices.Clone(raw)
		return nil
	}
	return json.Unmarshal(raw, &f.Name)
}

// Keys are those of a property string; nil for a named format. They are decoded when they are first asked for.
func (f *Format) Keys() map[string]*Parameter {
	f.once.Do(func() {
		if f.raw == nil {
			return
		}
		if err := json.Unmarshal(f.raw, &f.keys); err != nil { // the file is generated, and a test decodes all of it
			panic(fmt.Sprintf("property string %.80s: %v", f.raw, err))
		}
		for name, p := range f.keys {
			p.Name = name
		}
	})
	return f.keys
}

// fromPerl rewrites what Go writes otherwise: groups with flags, counts from nothing, and a count above the 1000 that Go can repeat,
// whose bound is lost.
var fromPerl = strings.NewReplacer("(?^:", "(?:", "(?^i:", "(?i:", "(?^u:", "(?:", "{0,4096}", "*", "{,", "{0,")

// Matches reports whether the whole value fits the parameter's pattern. Without a pattern everything fits.
func (p *Parameter) Matches(value string) bool {
	p.once.Do(func() {
		if p.Pattern != "" {
			p.pattern = regexp.MustCompile(`\A(?:` + fromPerl.Replace(p.Pattern) + `)\z`)
		}
	})
	return p.pattern == nil || p.pattern.MatchString(value)
}
