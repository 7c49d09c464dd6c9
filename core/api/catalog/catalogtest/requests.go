// Package catalogtest has valid requests to the catalog, and a source for them.
// The tests over all operations of the API send them; see package requesttest.
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
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Source is a source in memory, called "mem", with an entry "wiki" of which there is a bundle.
func Source() *sources.Memory {
	m, _ := source()
	return m
}

// source is Source with the pin of its only state.
func source() (*sources.Memory, catalog.Pin) {
	m := &sources.Memory{}
	pin := m.Add(sources.State{
		Categories: []catalog.Category{{Key: "documents", Name: "Documents"}},
		Entries: []catalog.Entry{
			{Slug: "wiki", Name: "Wiki", Description: "A wiki that everybody can edit", Categories: []string{"documents"}, Tags: []string{"pages"}},
			{Slug: "old", Name: "Old", Removed: "its authors are gone"},
		},
		Files: map[string]map[string]string{"wiki": {"install.sh": "echo all done\n", "overlay/clear": "#!/bin/sh\n"}},
	})
	return m, pin
}

// Trust is the digest of what the source says of trust.
func Trust() string {
	sum := sha256.Sum256([]byte("Whoever has started it."))
	return hex.EncodeToString(sum[:])
}

// icon is the beginning of a picture, and enough to be one.
const icon = "89504e470d0a1a0a"

// install is on the host, whose machine can be logged in to then. No script runs there: the machine has no shell.
func install(f *requesttest.Fixture) requesttest.Change {
	f.T.Helper()
	const name = requesttest.Canary + "-install"
	host := f.Host
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/credentials", host), `{"rotate_ssh":true,"ssh_consent":true}`, 200)
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/ssh/verify", host), "", 200)
	_, pin := source()
	dbtest.Exec(f.T, f.DB, "UPDATE catalog_sources SET pin = $1 WHERE name = 'mem'", pin.String())
	var plan struct{ Sum string }
	answer := f.Expect("GET", fmt.Sprintf("/api/v1/catalog/mem%%2Fwiki/plan?host=%d", host), "", 200)
	if err := json.Unmarshal(answer.Body, &plan); err != nil {
		f.T.Fatal(err)
	}
	return requesttest.Change{Operation: "install_catalog_entry", Body: fmt.Sprintf(
		`{"host_id":%d,"name":%q,"consent":true,"sum":%q,"storage":"local","bridge":"br0"}`, host, name, plan.Sum)}
}

// discard is of an install that has failed and left a container.
func discard(f *requesttest.Fixture) requesttest.Change {
	f.T.Helper()
	const mark = "hostler-job-0123456789abcdef"
	ref := f.Lab.NewGuest(hypervisor.Container, hypervisor.GuestStopped)
	f.Lab.Change(ref.ID, func(g *hypervisor.Guest) { g.Tags = []string{mark} })
	f.Expect("POST", fmt.Sprintf("/api/v1/hosts/%d/sync", f.Host), "", 200)
	name := dbtest.Value[string](f.T, f.DB, "SELECT name FROM guests WHERE ref = $1 AND host_id = $2", ref.ID, f.Host)
	job := f.ID(`INSERT INTO jobs (kind, status, team_id, host_id, target_kind, target_id, target_name, params, finished_at)
		SELECT 'app.install', 'failed', 1, id, 'host', id, name, jsonb_build_object('host_id', id, 'cluster_id', cluster_id, 'mark', $2::text),
		now() FROM hosts WHERE id = $1 RETURNING id`, f.Host, mark)
	return requesttest.Change{Operation: "discard_install", Body: fmt.Sprintf(`{"confirm":%q}`, name), Path: map[string]string{"job_id": job}}
}

// Requests are those of the resource. The catalog belongs to the instance: what is in it has no team.
var Requests = requesttest.Requests{
	Values: func(f *requesttest.Fixture) map[string]string {
		f.Expect("PATCH", "/api/v1/catalog/sources/mem", fmt.Sprintf(`{"enabled":true,"trust_digest":%q}`, Trust()), 200)
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
	Changes: func(f *requesttest.Fixture) []requesttest.Change {
		return []requesttest.Change{
			install(f), discard(f),
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
