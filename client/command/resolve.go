package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

// kind describes a sort of objects that the command line can name.
type kind struct {
	// word is the name of the kind in messages, and plural its plural.
	word, plural string
	// op is the ID of the operation that lists the objects. filter is the query
	// parameter that narrows the list to a name; it is empty if the operation
	// has none, and then all objects are listed.
	op, filter string
	// names are the fields that a name is compared with. The first one is also
	// offered by completion.
	names []string
	// about are fields that tell two objects with the same name apart, for the
	// message about an ambiguous name.
	about []string
}

// kinds are the sorts of objects that an argument or a flag can name, by the
// word after the colon in verb.args. "id" is for objects without a name, such
// as jobs and alerts. "guest" is a VM or an app; its ID needs a prefix, because
// VMs and apps have separate IDs. "end" is an end of a packet: an address, "outside", node:NAME or a guest.
var kinds = map[string]kind{
	"vm":       {"VM", "VMs", "list_vms", "q", []string{"name"}, []string{"host", "node", "vmid"}},
	"app":      {"app", "apps", "list_apps", "q", []string{"name"}, []string{"host", "node", "vmid"}},
	"guest":    {"guest", "guests", "list_guests", "q", []string{"name", "app"}, []string{"kind", "host", "node", "vmid"}},
	"host":     {"host", "hosts", "list_hosts", "", []string{"name"}, []string{"address"}},
	"node":     {"node", "nodes", "list_nodes", "", []string{"node"}, []string{"host"}},
	"storage":  {"storage", "storages", "list_storage", "name", []string{"name"}, []string{"host", "cluster"}},
	"team":     {"team", "teams", "list_teams", "", []string{"name", "slug"}, []string{"slug"}},
	"user":     {"user", "users", "list_users", "", []string{"email"}, []string{"display_name"}},
	"schedule": {"schedule", "schedules", "list_schedules", "", []string{"name"}, []string{"cron", "job_kind"}},
	"key":      {"API key", "API keys", "list_api_keys", "", []string{"name", "prefix"}, []string{"prefix"}},
	"rule":     {"alert rule", "alert rules", "list_alert_rules", "", []string{"name"}, []string{"kind"}},
	"catalog":  {"catalog entry", "catalog entries", "list_catalog", "q", []string{"slug"}, nil},
	"channel":  {"channel", "channels", "list_notification_channels", "", []string{"name"}, []string{"kind"}},
	"window":   {"maintenance window", "maintenance windows", "list_maintenance_windows", "", []string{"name"}, []string{"cron"}},
	"end":      {"end", "ends", "list_guests", "q", []string{"name"}, []string{"kind", "host", "node", "vmid"}},
	"id":       {"id", "ids", "", "", nil, nil},
}

// thing is the object that a name stands for. id is zero for kinds that the API
// addresses by name: nodes, storages and catalog entries.
type thing struct {
	id   int64
	name string
	// host is the ID of the host that a node or a storage belongs to; zero for
	// other kinds.
	host int64
	app  bool
}

// resolve finds the object that a word names. A number is an ID and is used
// without a request, except for nodes and storages, which only have names.
// Everything else is a name, which must match exactly one object that the user
// can see: case matters, and a prefix is not enough, because a destructive
// command must not guess.
//
// The forms are: 12, name:12 for an object whose name is a number, vm:12 or
// app:web for a guest, and host/name for a node or a storage that exists on
// several hosts. It returns statusNotFound if no object or more than one
// matches.
func (s *session) resolve(ctx context.Context, of, word string) (thing, error) {
	k := kinds[of]
	name, forced := strings.CutPrefix(word, "name:")
	id, err := strconv.ParseInt(word, 10, 64)
	numeric := err == nil && !forced
	switch {
	case name == "" || k.op == "" && !numeric || numeric && id < 1:
		return thing{}, &failure{statusUsage, fmt.Sprintf("invalid %s: %q", k.word, word)}
	case of == "catalog":
		return thing{name: name}, nil
	case numeric && of != "guest" && of != "node" && of != "storage":
		return thing{id: id}, nil
	}
	if of == "guest" {
		for _, prefix := range []string{"vm", "app"} {
			if rest, ok := strings.CutPrefix(word, prefix+":"); ok {
				found, err := s.resolve(ctx, prefix, rest)
				found.app = prefix == "app"
				return found, err
			}
		}
		if numeric {
			return thing{}, &failure{statusUsage, fmt.Sprintf("ambiguous guest %s: use vm:%s for a VM or app:%s for an app", word, word, word)}
		}
	}
	host := ""
	if of == "node" || of == "storage" {
		if before, after, both := strings.Cut(name, "/"); both {
			host, name = before, after
		}
	}
	rows, err := s.things(ctx, k, name)
	if err != nil {
		return thing{}, err
	}
	var found []any
	for _, row := range rows {
		named := slices.ContainsFunc(k.names, func(field string) bool { return output.At(row, field) == name })
		onHost := host == "" || output.At(row, "host") == host || fmt.Sprint(output.At(row, "host_id")) == host
		if named && onHost {
			found = append(found, row)
		}
	}
	if len(found) != 1 {
		return thing{}, s.which(k, of, word, found)
	}
	return asThing(of, word, found[0])
}

// asThing converts a row of a list to the object that was named. A container
// that is not an app has no app ID, so it returns statusConflict and says how
// to adopt it; the service could only respond that the app does not exist.
func asThing(of, word string, row any) (thing, error) {
	number := func(field string) int64 {
		n, _ := output.At(row, field).(json.Number)
		id, _ := n.Int64() // null is zero
		return id
	}
	t := thing{id: number("id"), host: number("host_id")}
	switch of {
	case "node":
		t.name, _ = output.At(row, "node").(string)
	case "storage":
		t.name, _ = output.At(row, "name").(string)
	case "guest":
		if output.At(row, "kind") == "container" {
			if t.id, t.app = number("app_id"), true; t.id == 0 {
				return t, &failure{statusConflict, fmt.Sprintf("container %s is not an app: adopt it with hostler app adopt", word)}
			}
		}
	}
	return t, nil
}

// which returns the error for a name that matches no object, or several. For
// several it lists a form for each one that is unique and can be copied to the
// command line. The text for none does not say whether the object exists,
// because the service does not reveal that either.
func (s *session) which(k kind, of, word string, found []any) error {
	if len(found) == 0 {
		return &failure{statusNotFound, fmt.Sprintf("%s %s not found, or you don't have access", k.word, word)}
	}
	slices.SortFunc(found, func(a, b any) int {
		return cmp.Compare(output.Show("id", output.At(a, "id"), time.Time{}), output.Show("id", output.At(b, "id"), time.Time{}))
	})
	lines := make([]string, len(found))
	for i, row := range found {
		call := output.Show("id", output.At(row, "id"), time.Time{})
		switch {
		case of == "node" || of == "storage":
			call = fmt.Sprintf("%v/%v", output.At(row, "host"), output.At(row, k.names[0]))
		case of == "guest" && output.At(row, "kind") == "vm":
			call = "vm:" + call
		case of == "guest":
			call = "app:" + output.Show("app_id", output.At(row, "app_id"), time.Time{})
		}
		lines[i] = "  " + call
		for _, field := range k.about {
			lines[i] += "  " + field + " " + output.Show(field, output.At(row, field), time.Time{})
		}
	}
	list := strings.Join(lines, "\n")
	return &failure{statusNotFound, fmt.Sprintf("the name %s is ambiguous: it matches %d %s; use one of\n%s", word, len(found), k.plural,
		list)}
}

// things lists the objects of a kind. If the operation has a filter, only
// objects that match name are listed; the filter may match more than the exact
// name, so the caller compares again. An empty name lists all.
func (s *session) things(ctx context.Context, k kind, name string) ([]any, error) {
	query := url.Values{}
	if k.filter != "" && name != "" {
		query.Set(k.filter, name)
	}
	body, _, err := s.pages(ctx, api.Find(k.op), "", query, 0)
	if err != nil {
		return nil, err
	}
	value, err := output.Parse(body)
	if err != nil {
		return nil, err
	}
	rows, _ := value.([]any)
	return rows, nil
}

// maxPages is the maximum number of pages of a list. It ends the loop with a
// faulty service that always has one more full page.
const maxPages = 2000

// maxListing is the maximum size of all pages of one list together, in bytes,
// unless the session sets another one. A list is kept in memory until it is
// printed.
const maxListing = 256 << 20

// pages reads a list, 500 entries per request, up to limit entries or all of
// them if limit is zero. An operation without pages is read with one request.
// path replaces the path of the operation, for one with parameters. It returns
// the list as JSON and the total number of entries as the service reports it in
// X-Total-Count; the total is 0 for an operation without pages.
//
// Entries that are created or deleted between two pages can shift, so an entry
// can appear twice or be missing. The list is a view for people and not a
// snapshot.
func (s *session) pages(ctx context.Context, op *api.Operation, path string, query url.Values, limit int) (
	body []byte, total int, err error,
) {
	client, err := s.connection()
	if err != nil {
		return nil, 0, err
	}
	if path == "" {
		path = op.Path
	}
	request := transport.Request{Method: http.MethodGet, Path: path, Query: query, Repeatable: true}
	if !op.Paged {
		answer, err := client.Call(ctx, request)
		if err != nil {
			return nil, 0, err
		}
		return answer.Body, 0, nil
	}
	size := 500
	if limit > 0 {
		size = min(limit, size)
	}
	all := []json.RawMessage{}
	most, used := cmp.Or(s.maxListing, maxListing), 0
	for page := 1; page <= maxPages; page++ {
		query.Set("page", strconv.Itoa(page))
		query.Set("per_page", strconv.Itoa(size))
		answer, err := client.Call(ctx, request)
		if err != nil {
			return nil, 0, err
		}
		if used += len(answer.Body); used > most {
			return nil, 0, fmt.Errorf("cannot list %s: the service sent more than %d MiB; use --limit or a filter, or an ID instead of a name",
				path, most>>20)
		}
		var some []json.RawMessage
		if err := json.Unmarshal(answer.Body, &some); err != nil {
			return nil, 0, fmt.Errorf("unexpected response from the service: %w", err)
		}
		all = append(all, some...)
		total, _ = strconv.Atoi(answer.Header.Get("X-Total-Count"))
		if len(some) < size || limit > 0 && len(all) >= limit {
			break
		}
	}
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	body, err = json.Marshal(all)
	return body, max(total, len(all)), err
}
