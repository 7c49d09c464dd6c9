// Package catalogtest has good requests to the catalog, and a source for them.
package catalogtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hostler/hostler/core/api/requesttest"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/sdk/catalog"
	sources "github.com/hostler/hostler/sdk/catalog/catalogtest"
)

// Source is a source in memory, called "mem", with an entry "wiki" of which there is a bundle.
func Source() *sources.Memory {
	m := &sources.Memory{}
	m.Add(sources.State{
		Categories: []catalog.Category{{Key: "documents", Name: "Documents"}},
		Entries: []catalog.Entry{
			{Slug: "wiki", Name: "Wiki", Description: "Pages that everybody may write", Categories: []string{"documents"}, Tags: []string{"pages"}},
			{Slug: "old", Name: "Old", Removed: "its authors are gone"},
		},
		Files: map[string]map[string]string{"wiki": {"install.sh": "echo all done\n", "overlay/clear": "#!/bin/sh\n"}},
	})
	return m
}

// Trust is the digest of what the source says of trust.
func Trust() string {
	sum := sha256.Sum256([]byte("Whoever has started it."))
	return hex.EncodeToString(sum[:])
}

// icon is the beginning of a picture, and enough to be one.
const icon = "89504e470d0a1a0a"

// Requests are those of the resource. The catalog belongs to the instance: what is in it has no team.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		f.Ask("PATCH", "/api/v1/catalog/sources/mem", fmt.Sprintf(`{"enabled":true,"trust_digest":%q}`, Trust()), 200)
		// What a refresh would leave, without the time that it takes.
		raw, err := json.Marshal(catalog.Entry{Slug: "wiki", Name: "Wiki", Type: catalog.ContainerEntry})
		if err != nil {
			f.T.Fatal(err)
		}
		name := strings.Repeat("0", 64) + ".png"
		dbtest.Exec(f.T, f.DB, "INSERT INTO catalog_icons (name, data) VALUES ($1, decode($2, 'hex')) ON CONFLICT DO NOTHING", name, icon)
		dbtest.Exec(f.T, f.DB, `INSERT INTO catalog_icon_references (source, reference, icon, next_at) VALUES ('mem', 'wiki', $1, now() +
			interval '1 day')
			ON CONFLICT DO NOTHING`, name)
		dbtest.Exec(f.T, f.DB, `INSERT INTO catalog_entries (source, slug, path, digest, entry_type, name, summary, categories, tags,
			installable,
			variant_of, icon, words, entry) VALUES ('mem', 'wiki', 'mem/wiki', '', 'ct', 'Wiki', '', '{}', '{}', true, '', 'wiki', 'wiki', $1::json)
			ON CONFLICT DO NOTHING`, string(raw))
		return map[string]string{"slug": "mem%2Fwiki", "source": "mem"}
	},
	Changes: func(*requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			{Operation: "update_catalog_source", Body: fmt.Sprintf(`{"enabled":true,"allow_private":true,`+
				`"trust_digest":%q,"options":{"note":"text"}}`, Trust())},
			{Operation: "accept_catalog_loss", Body: fmt.Sprintf(`{"digest":%q}`, Trust()), Status: 409, Code: "invalid_state",
				Why: "the source has lost nothing"},
			{Operation: "refresh_catalog"},
		}
	},
	Reads: map[string]requesttest.Read{
		"list_catalog":         {Teamless: "the catalog is the instance's, for everybody"},
		"get_catalog_status":   {Teamless: "the catalog is the instance's, for everybody"},
		"list_catalog_sources": {Teamless: "the instance's own, for its admins"},
		"plan_catalog_entry":   {Status: 422},
		"get_catalog_file":     {Status: 422},
	},
}
