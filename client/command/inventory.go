package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/transport"
)

// inventoryCommand returns the command that acts as an inventory script of
// Ansible: --list prints everything and --host NAME prints the variables of one
// host (Ansible, "Developing dynamic inventory").
func (s *session) inventoryCommand() *cobra.Command {
	var list bool
	var host string
	c := &cobra.Command{
		Use: "inventory", Short: "Print the guests as a dynamic inventory for Ansible", Args: cobra.NoArgs,
		Long: "Print the guests as a dynamic inventory for Ansible. Ansible requires an executable file, such as\n\n" +
			"  #!/bin/sh\n  exec hostler inventory \"$@\"\n\n" +
			"The name of a host is the name of the guest, or its name and ID if the name is not unique or Ansible would read it as " +
			"something else, such as an IP address. Its ansible_host is the first address that the guest reported. Without one it is a " +
			"name below .invalid, which " +
			"never resolves (RFC 2606), such as 7.without-address.invalid. for the guest with id 7: Ansible cannot reach such a guest, and " +
			"does not reach another machine by its name. " +
			"The groups are kind, status, host, node, cluster, team, pool and tags: kind_vm, status_running, host_lab, node_pve1, cluster_prod, " +
			"team_Default, pool_x, tag_prod. Templates are left out. Variables start with hostler_. " +
			"In names of hosts and groups, an underscore replaces characters with a special meaning in Ansible. All texts in variables " +
			"are marked as unsafe ({\"__ansible_unsafe\": TEXT}), so Ansible never runs them as templates.",
		Example: "  ansible -i ./inventory.sh status_running -m ping",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list && host != "" {
				return &failure{statusUsage, "--list and --host cannot be combined"}
			}
			return s.inventory(cmd.Context(), host)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "print all groups and hosts, the default")
	c.Flags().StringVar(&host, "host", "", "print the variables of this host")
	return c
}

// inventory prints the groups and the variables of all guests except templates.
// The variables are in _meta, so Ansible does not call the script again for
// each host, which would be one request per guest. With --host it prints an
// empty object for an unknown host, as Ansible expects.
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

// ansible returns the groups and the variables by host. A host has the name of
// its guest if that is unique and harmless, otherwise the name and the ID.
// Names of hosts and groups only contain characters without a meaning in host
// patterns and on the command line of ssh: somebody who may name a guest must
// not be able to select other hosts or to pass options to ssh.
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
	taken := func(name string) bool { return members[name] != nil || vars[name] != nil || reserved(name) }
	for i := range guests {
		g := &guests[i]
		if g.Template {
			continue
		}
		name := hostName(g.Name)
		if name == "" || named[name] > 1 || taken(name) {
			name = fmt.Sprintf("%s_%d", cmp.Or(name, "guest"), g.Id)
			for named[name] > 0 || taken(name) { // another guest or a group already has the new name
				name += "_"
			}
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

// numericName matches names that a resolver would read as an IPv4 address.
// inet_aton accepts more than four decimal numbers, such as 127.1, 2130706433
// and 0x7f.0.0.1.
var numericName = regexp.MustCompile(`^(\pN|\.|0[xX][0-9a-fA-F]*)+$`)

// reserved reports whether a name has another meaning for Ansible or for a
// resolver: the groups all and ungrouped, the key _meta, localhost (the machine
// that runs Ansible), and IP addresses.
func reserved(name string) bool {
	if slices.Contains([]string{"all", "ungrouped", "_meta", "localhost"}, strings.ToLower(name)) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil || numericName.MatchString(name)
}

// variables returns the variables of a guest. Every text is marked as unsafe.
// ansible_host is always set, so that Ansible never resolves the name of the
// guest.
func variables(g *api.GuestEntry) map[string]any {
	v := map[string]any{
		"hostler_id": g.Id, "hostler_kind": unsafe(string(g.Kind)), "hostler_name": unsafe(g.Name),
		"hostler_status": unsafe(string(g.Status)), "hostler_host": unsafe(g.Host), "hostler_node": unsafe(g.Node),
		"hostler_cluster": unsafe(g.Cluster), "hostler_team": unsafe(g.Team), "hostler_pool": unsafe(g.Pool),
		"hostler_tags": unsafeTexts(g.Tags), "hostler_vmid": g.Vmid, "hostler_app": nil, "hostler_app_id": g.AppId,
		"hostler_addresses": nil, "ansible_host": unsafe(address(g)),
	}
	if g.App != nil {
		v["hostler_app"] = unsafe(*g.App)
	}
	if g.Addresses != nil {
		v["hostler_addresses"] = unsafeTexts(*g.Addresses)
	}
	return v
}

// address returns the address for ansible_host: the first global unicast
// address that the guest reported, without its prefix length. The guest chooses
// what it reports, so loopback, link-local, multicast and zoned addresses are
// skipped, because they could lead to the machine that runs Ansible.
//
// Without a usable address it returns a name below .invalid, which never
// resolves (RFC 2606). ssh would otherwise resolve the name of the guest and
// perhaps reach another machine. The trailing dot keeps resolvers from
// appending their search domains.
func address(g *api.GuestEntry) string {
	var reported []string
	if g.Addresses != nil {
		reported = *g.Addresses
	}
	for _, text := range reported {
		text, _, _ = strings.Cut(text, "/")
		if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" && address.Unmap().IsGlobalUnicast() {
			return address.Unmap().String()
		}
	}
	return fmt.Sprintf("%d.without-address.invalid.", g.Id)
}

// unsafe marks a text with __ansible_unsafe, so that Ansible never evaluates it
// as a Jinja2 template. Ansible knows several ways to mark a template, so all
// texts are marked instead of only suspicious ones.
func unsafe(text string) map[string]string { return map[string]string{"__ansible_unsafe": text} }

// unsafeTexts marks each text of a list as unsafe. Names and tags come from
// users of the hypervisor.
func unsafeTexts(texts []string) []map[string]string {
	all := []map[string]string{}
	for _, text := range texts {
		all = append(all, unsafe(text))
	}
	return all
}

// hostName returns a text as a name that Ansible can only read as a host name:
// letters, digits, dots, hyphens and underscores, and no dot or hyphen at the
// beginning, where ssh would read an option.
func hostName(text string) string {
	return strings.TrimLeft(safe(text, "._-"), ".-")
}

// groupName returns a text as a valid name of a group, which is also the name
// of a variable in Ansible: letters, digits and underscores.
func groupName(text string) string { return safe(text, "_") }

// safe replaces all characters by underscores, except letters, digits and the
// allowed ones.
func safe(text, allowed string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(allowed, r) {
			return r
		}
		return '_'
	}, text)
}
