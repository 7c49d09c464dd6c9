package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/problem"
	sdk "github.com/hostler/hostler/sdk/catalog"
)

// Item is an entry in a list; the JSON names are those of the API.
type Item struct {
	Slug       string     `json:"slug" example:"wiki" doc:"Identifies the entry in paths. It starts with the name of the source and a slash, except for the first source"`
	Name       string     `json:"name" example:"Wiki"`
	Source     string     `json:"source" example:"scripts"`
	EntryType  string     `json:"entry_type" enum:"ct,vm,addon,node,other" example:"ct" doc:"Type of the entry; only ct, which creates one container, can be installed"`
	Category   *string    `json:"category" example:"documents" doc:"First category of the entry; null if it has none"`
	Categories []string   `json:"categories" nullable:"false" example:"[\"documents\"]"`
	Summary    string     `json:"summary" example:"A wiki that everybody can edit" doc:"Start of the description, at most 120 characters"`
	Tags       []string   `json:"tags" nullable:"false" example:"[\"wiki\"]"`
	CreatedAt  *time.Time `json:"created_at" doc:"When its own files were added; null if not known"`
	UpdatedAt  *time.Time `json:"updated_at" doc:"When its own files last changed"`
	// Installable says that nothing of the entry itself is in the way.
	Installable bool     `json:"installable" doc:"true if nothing in the entry prevents its installation"`
	VariantOf   *string  `json:"variant_of" example:"wiki" doc:"The entry of which this one is a variant"`
	HasIcon     bool     `json:"has_icon" doc:"true if it has an icon, which is at the path of the entry followed by /icon"`
	Popularity  *float64 `json:"popularity" doc:"Higher for entries that are installed more often; null if Hostler does not query popularity"`
}

// Entry is one entry with everything that is known about it.
type Entry struct {
	Item
	Description   string      `json:"description" doc:"Description as plain text"`
	Authors       []string    `json:"authors" nullable:"false"`
	Licence       string      `json:"licence" example:"MIT"`
	Website       string      `json:"website" example:"https://wiki.example.com"`
	Docs          string      `json:"docs"`
	Origins       []string    `json:"origins" nullable:"false" doc:"Sources of the program itself"`
	Web           *Web        `json:"web" doc:"Where its web page will be; null if it has none or this is not known"`
	Defaults      Defaults    `json:"defaults"`
	ConfigPath    string      `json:"config_path" example:"/etc/wiki.conf"`
	Credentials   string      `json:"credentials" doc:"How to log in for the first time"`
	Notes         []Note      `json:"notes" nullable:"false"`
	Updatable     bool        `json:"updatable" doc:"true if it supports updates of installed apps"`
	Disabled      *string     `json:"disabled" doc:"Why it should not be installed at present"`
	Removed       *string     `json:"removed" doc:"Why it can no longer be installed"`
	Successor     *string     `json:"successor" example:"wiki-ng" doc:"The entry that replaces it"`
	Variants      []string    `json:"variants" nullable:"false" example:"[\"alpine-wiki\"]" doc:"Variants of the entry"`
	Architectures []string    `json:"architectures" nullable:"false" example:"[\"amd64\"]" doc:"Supported architectures; empty for all"`
	Prompts       int         `json:"prompts" doc:"Number of questions in its scripts without a default answer"`
	NeedsYes      bool        `json:"needs_yes" doc:"true if one of the questions asks for consent"`
	Privileges    []Privilege `json:"privileges" nullable:"false" doc:"Privileges of its container or its installation beyond the usual ones"`
	Overrides     []Option    `json:"overrides" nullable:"false" doc:"Settings that an installation can override"`
	Commit        *string     `json:"commit" example:"community-scripts/ProxmoxVE@8386465a927ac72f518d1c54ce21fe3c2df03407" doc:"Last commit that changed its own files"`
	Pin           *string     `json:"pin" doc:"Commit of the catalog from which it was read and from which its bundle is built"`
	Digest        string      `json:"digest" doc:"Changes whenever anything in the entry changes"`
}

// Web is the address of an app's page.
type Web struct {
	Protocol string `json:"protocol" enum:"http,https"`
	Port     int    `json:"port" example:"8080"`
	Path     string `json:"path" example:"/"`
}

// Defaults are the values for an installation without options. Zero means
// unknown.
type Defaults struct {
	Cores      int    `json:"cores" example:"2"`
	MemoryMB   int    `json:"memory_mb" example:"2048"`
	DiskGB     int    `json:"disk_gb" example:"8"`
	OS         string `json:"os" example:"debian"`
	OSVersion  string `json:"os_version" example:"13"`
	Privileged bool   `json:"privileged" doc:"true if root in the container is root on the node"`
}

// Note is a text that people should read before they install.
type Note struct {
	Level string `json:"level" enum:"info,warning"`
	Text  string `json:"text"`
}

// Privilege is one right beyond the usual ones.
type Privilege struct {
	Key  string `json:"key" example:"privileged"`
	Text string `json:"text" example:"A privileged container"`
}

// installable reports whether the entry itself does not prevent an
// installation.
func installable(e *sdk.Entry) bool {
	return e.Type == sdk.ContainerEntry && e.Removed == "" && e.Disabled == ""
}

// maxSummary is the length of a summary in characters.
const maxSummary = 120

// summary returns the beginning of a description on one line.
func summary(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	if len(words) <= maxSummary {
		return words
	}
	cut := words[:maxSummary-3]
	if at := strings.LastIndexByte(cut, ' '); at > maxSummary/2 {
		cut = cut[:at]
	}
	return strings.TrimRightFunc(strings.ToValidUTF8(cut, ""), unicode.IsPunct) + "..."
}

// maxWords is how much of a description is searched, in bytes.
const maxWords = 1000

// searched returns the text that is searched: name and slug, and all other
// words after a line break.
func searched(e *sdk.Entry, categories map[string]string) string {
	rest := append([]string{}, e.Tags...)
	for _, key := range e.Categories {
		rest = append(rest, key, categories[key])
	}
	text := strings.Join(strings.Fields(e.Description), " ")
	rest = append(rest, strings.ToValidUTF8(text[:min(len(text), maxWords)], ""))
	return fold(e.Name+" "+e.Slug) + "\n" + fold(strings.Join(rest, " "))
}

// fold returns the form in which texts are compared.
func fold(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// found is the place of an entry.
type found struct {
	source, slug, pin string
	entry             sdk.Entry
}

// find finds an entry of a source that is switched on by its path. The problem
// is not_found.
func (s *Store) find(ctx context.Context, path string) (*found, error) {
	f := &found{}
	var text []byte
	err := s.DB.Pool.QueryRow(ctx, `SELECT e.source, e.slug, s.pin, e.entry FROM catalog_entries e JOIN catalog_sources s ON s.name = e.source
		WHERE e.path = $1 AND s.enabled`, path).Scan(&f.source, &f.slug, &f.pin, &text)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.New(problem.CodeNotFound, "entry not found in the catalog")
	}
	if err == nil {
		err = json.Unmarshal(text, &f.entry)
	}
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading an entry of the catalog: %w", err))
	}
	return f, nil
}

// Entry returns one entry by its path. The problem is not_found.
func (s *Store) Entry(ctx context.Context, path string) (*Entry, error) {
	f, err := s.find(ctx, path)
	if err != nil {
		return nil, err
	}
	items, err := s.items(ctx, "e.path = $2", []string{}, path)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, problem.New(problem.CodeNotFound, "entry not found in the catalog")
	}
	variants, err := s.variants(ctx, f)
	if err != nil {
		return nil, err
	}
	e := &f.entry
	told := &Entry{
		Item: items[0].Item, Description: e.Description, Authors: list(e.Authors), Licence: e.Licence, Website: e.Website, Docs: e.Docs,
		Origins: list(e.Sources), ConfigPath: e.ConfigPath, Credentials: e.Credentials, Notes: []Note{}, Updatable: e.Updatable,
		Disabled: text(e.Disabled), Removed: text(e.Removed), Variants: variants, Architectures: list(e.Architectures), Prompts: e.Prompts,
		NeedsYes: e.NeedsYes, Privileges: privileges(e), Overrides: overrides(e), Commit: text(e.App.String()), Pin: text(f.pin),
		Digest: e.Digest, Defaults: Defaults{Cores: e.Defaults.Cores, MemoryMB: e.Defaults.MemoryMB, DiskGB: e.Defaults.DiskGB,
			OS: e.Defaults.OS, OSVersion: e.Defaults.OSVersion, Privileged: e.Defaults.Privileged},
	}
	if e.Successor != "" {
		told.Successor = new(pathOf(f.source, e.Successor))
	}
	if e.Web != nil {
		told.Web = &Web{Protocol: e.Web.Protocol, Port: e.Web.Port, Path: e.Web.Path}
	}
	for _, n := range e.Notes {
		told.Notes = append(told.Notes, Note{Level: string(n.Level), Text: n.Text})
	}
	return told, nil
}

// variants returns the installable variants of an entry.
func (s *Store) variants(ctx context.Context, f *found) ([]string, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT path FROM catalog_entries WHERE source = $1 AND variant_of = $2 AND installable
		ORDER BY path COLLATE "C"`, f.source, f.slug)
	if err == nil {
		var all []string
		if all, err = pgx.CollectRows(rows, pgx.RowTo[string]); err == nil {
			return list(all), nil
		}
	}
	return nil, db.Problem(fmt.Errorf("reading the variants of an entry: %w", err))
}

// privileges converts the privileges of an entry.
func privileges(e *sdk.Entry) []Privilege {
	all := []Privilege{}
	for _, p := range e.Privileges {
		all = append(all, Privilege{Key: p.Key, Text: p.Text})
	}
	return all
}

// overrides converts the overrides of an entry.
func overrides(e *sdk.Entry) []Option {
	all := []Option{}
	for _, o := range e.Overrides {
		all = append(all, describe(o, nil))
	}
	return all
}

// list returns a copy that is never nil.
func list(texts []string) []string { return append([]string{}, texts...) }

// text returns nil for an empty text.
func text(t string) *string {
	if t == "" {
		return nil
	}
	return &t
}
