package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/transport"
)

func (s *session) inventoryCommand() *cobra.Command {
	var list bool
	var host string
	c := &cobra.Command{
		Use: "inventory", Short: "Write the guests as a dynamic inventory of Ansible", Args: cobra.NoArgs,
		Long: "Write the guests as a dynamic inventory of Ansible. Ansible takes a program: a file of two lines that may be executed, such " +
			"as\n\n" +
			"  #!/bin/sh\n  exec hostler inventory \"$@\"\n\n" +
			"A guest is a host by its name, or by its name and id where several have the name. Its address is the first that the guest told of. " +
			"Groups are its kind, status, host, node, cluster, team, pool and tags: kind_vm, status_running, host_lab, node_pve1, cluster_prod, " +
			"team_Default, pool_x, tag_prod. Templates are left out. All that is known of it is in variables that begin with hostler_. " +
			"In names of hosts and groups an underscore stands for what Ansible would read as more than a name, and what looks like a " +
			"template comes as a text that Ansible does not run.",
		Example: "  ansible -i ./inventory.sh status_running -m ping",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list && host != "" {
				return &failure{statusUsage, "take one of --list and --host"}
			}
			return s.inventory(cmd.Context(), host)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "all groups and hosts; so it is without --host too")
	c.Flags().StringVar(&host, "host", "", "the variables of one host")
	return c
}

func (s *session) inventory(ctx context.Context, host string) error {
	client, err := s.connection()
	if err != nil {
		return err
	}
	request := transport.Request{Method: http.MethodGet, Path: api.Find("list_guests").Path, Repeatable: true}
	var guests []api.GuestEntry
	if err := read(ctx, client, request, &guests); err != nil {
		return err
	}
	groups, vars := ansible(guests)
	var out any = groups
	if host != "" {
		out = vars[host]
		if vars[host] == nil {
			out = map[string]any{} // so does Ansible expect it of a host that is not known
		}
	} else {
		groups["_meta"] = map[string]any{"hostvars": vars}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	if s.jq == "" {
		s.json = true
	}
	return s.answer(ctx, text, func(any) {})
}

// ansible gives the groups, and the variables by host. Names of guests and groups are made of what Ansible takes as such: whoever may
// name a guest must not choose what else a pattern of hosts means, nor an option of ssh.
func ansible(guests []api.GuestEntry) (groups map[string]any, vars map[string]map[string]any) {
	members := map[string][]int64{}
	named := map[string]int{}
	for i := range guests {
		g := &guests[i]
		if g.Template {
			continue
		}
		named[hostName(g.Name)]++
		for _, group := range [][2]string{
			{"kind", string(g.Kind)}, {"status", string(g.Status)}, {"host", g.Host}, {"node", g.Node}, {"cluster", g.Cluster},
			{"team", g.Team}, {"pool", g.Pool},
		} {
			if group[1] != "" {
				word := groupName(group[0] + "_" + group[1])
				members[word] = append(members[word], g.Id)
			}
		}
		for _, tag := range g.Tags {
			word := groupName("tag_" + tag)
			members[word] = append(members[word], g.Id)
		}
	}
	vars = map[string]map[string]any{}
	hosts := map[int64]string{}
	for i := range guests {
		g := &guests[i]
		if g.Template {
			continue
		}
		name := hostName(g.Name)
		_, group := members[name]
		if name == "" || named[name] > 1 || group || slices.Contains(reserved, name) {
			name = strings.TrimPrefix(fmt.Sprintf("%s_%d", name, g.Id), "_")
		}
		for vars[name] != nil { // somebody has called a guest as another one is called with its id
			name += "_"
		}
		hosts[g.Id], vars[name] = name, variables(g)
	}
	groups = map[string]any{}
	for word, ids := range members {
		names := make([]string, 0, len(ids))
		for _, id := range ids {
			names = append(names, hosts[id])
		}
		slices.Sort(names)
		groups[word] = map[string]any{"hosts": slices.Compact(names)}
	}
	return groups, vars
}

// reserved are names that mean something else to Ansible.
var reserved = []string{"all", "ungrouped", "_meta", "localhost"}

// variables are those of a guest.
func variables(g *api.GuestEntry) map[string]any {
	v := map[string]any{
		"hostler_id": g.Id, "hostler_kind": g.Kind, "hostler_name": literal(g.Name), "hostler_status": g.Status,
		"hostler_host": literal(g.Host), "hostler_node": literal(g.Node), "hostler_cluster": literal(g.Cluster),
		"hostler_team": literal(g.Team), "hostler_pool": literal(g.Pool), "hostler_tags": literals(g.Tags), "hostler_vmid": g.Vmid,
		"hostler_app": nil, "hostler_app_id": g.AppId, "hostler_addresses": nil,
	}
	if g.App != nil {
		v["hostler_app"] = literal(*g.App)
	}
	if g.Addresses == nil {
		return v
	}
	v["hostler_addresses"] = literals(*g.Addresses)
	for _, text := range *g.Addresses {
		text, _, _ = strings.Cut(text, "/")
		// A guest tells its addresses itself: what is none, or would lead to the machine that asks, is none to connect to.
		if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" && address.Unmap().IsGlobalUnicast() {
			v["ansible_host"] = address.Unmap().String()
			break
		}
	}
	return v
}

// literal is a text that Ansible does not take for a template, which it would run on the machine of whoever asks.
func literal(text string) any {
	if strings.Contains(text, "{{") || strings.Contains(text, "{%") || strings.Contains(text, "{#") {
		return map[string]string{"__ansible_unsafe": text}
	}
	return text
}

func literals(texts []string) []any {
	all := []any{}
	for _, text := range texts {
		all = append(all, literal(text))
	}
	return all
}

// hostName is a name that Ansible takes for a host and nothing else: letters, digits, dots, hyphens and underscores, of which the first
// is no dot and no hyphen.
func hostName(text string) string {
	return strings.TrimLeft(safe(text, "._-"), ".-")
}

// groupName is a name that Ansible takes for a group and for a variable: letters, digits and underscores.
func groupName(text string) string { return safe(text, "_") }

// safe has an underscore in the place of all but letters, digits and what else is allowed.
func safe(text, allowed string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(allowed, r) {
			return r
		}
		return '_'
	}, text)
}
