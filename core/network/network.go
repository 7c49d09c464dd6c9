// Package network manages the networks of nodes. Interfaces are read from the
// hypervisor for each request and never stored, because an administrator may
// change them at any time.
//
// A change takes two steps. Create, Edit and Remove stage it:
// they write a configuration that is not active yet. Apply activates everything
// that is staged on the node, whoever staged it; Revert drops it. The table
// network_staged remembers who staged what through this service.
//
// An apply may cut off the service itself, so it is a job with three
// safeguards:
//
//   - path.go judges in advance whether the change affects the path by which
//     the service reaches the node. If it does, or nobody can tell, the user
//     must confirm that.
//   - undo.go starts a rollback timer on the node, where the service has SSH
//     access. The node restores its old network unless the service stops the
//     timer in time.
//   - The transcript has commands for the node's console that restore the old
//     network.
//
// The request is sent once. Afterwards work.go waits until the node answers
// again and judges the network that it reports.
//
// Store is the main type. Interface, Node and Bridges are the API's forms;
// Config is what a request sets.
package network

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Store reads and changes the networks of nodes through the hypervisors. It is
// safe for concurrent use.
type Store struct {
	DB    *db.DB
	Hosts *host.Store
	Actor *guest.Actor
	// Self recognizes the guest that the service runs in.
	Self *guest.Self
	// Resolve returns the addresses of a host name; nil uses the system's
	// resolver.
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	// AnswerLimit is how long a node may take to answer again after an apply; 0
	// means a minute. SteadyTime is how long it must answer after the end of
	// the apply before that is trusted; 0 means 5 s. ApplyLimit is how long the
	// apply may take while the node answers; 0 means 10 minutes.
	AnswerLimit, SteadyTime, ApplyLimit time.Duration
	// UndoAfter is the default time of the rollback timer; 0 means two minutes.
	UndoAfter time.Duration
	// NodeLimit bounds reading one node of a list, and ListLimit reading all of
	// them; 0 means 5 s and 90 s.
	NodeLimit, ListLimit time.Duration
}

// Interface is a network interface of a node. The names of its settings are
// those of Config.
type Interface struct {
	Name       string            `json:"name" example:"vmbr0"`
	Type       string            `json:"type" enum:"nic,bridge,bond,vlan,alias,ovs_bridge,ovs_bond,ovs_port,ovs_internal,other"`
	Active     bool              `json:"active" doc:"true if the interface is currently active on the node"`
	Staged     *string           `json:"staged" enum:"added,changed,removed" doc:"Staged change; null for none. An interface that will be removed is shown as it is now"`
	Autostart  bool              `json:"autostart"`
	CIDR       *string           `json:"cidr" example:"192.0.2.10/24"`
	Gateway    *string           `json:"gateway" example:"192.0.2.1"`
	CIDR6      *string           `json:"cidr6" example:"2001:db8::10/64"`
	Gateway6   *string           `json:"gateway6" example:"2001:db8::1"`
	Dynamic    bool              `json:"dynamic" doc:"true if its IPv4 address comes from DHCP; a change through this service replaces that"`
	Dynamic6   bool              `json:"dynamic6" doc:"true if its IPv6 address comes from DHCP or router advertisements; a change through this service replaces that"`
	Ports      []string          `json:"ports" example:"[\"eno1\"]" doc:"Member interfaces of a bridge or a bond"`
	Device     *string           `json:"device" example:"eno1" doc:"Parent interface of a VLAN or an alias; bridge of an Open vSwitch port"`
	VLAN       *int64            `json:"vlan" example:"20" doc:"VLAN tag"`
	VLANAware  bool              `json:"vlan_aware" doc:"true if guests on the bridge can use VLAN tags"`
	VLANs      *string           `json:"vlans" example:"2-4094" doc:"VLAN tags that guests on the bridge can use"`
	BondMode   *string           `json:"bond_mode" example:"active-backup"`
	BondMain   *string           `json:"bond_primary" example:"eno1"`
	BondHash   *string           `json:"bond_hash" example:"layer2+3"`
	MTU        *int64            `json:"mtu" example:"1500" doc:"MTU; null for the system's default"`
	Comment    string            `json:"comment"`
	OtherNames []string          `json:"alt_names" doc:"Other names of the same interface"`
	Options    map[string]string `json:"options" doc:"Other options, as the hypervisor names them; they are kept"`
}

// StagedChange is a change that was staged through this service.
type StagedChange struct {
	Interface string    `json:"interface" example:"vmbr1"`
	Action    string    `json:"action" enum:"create,edit,delete"`
	User      string    `json:"user" example:"ann@example.com"`
	At        time.Time `json:"at"`
}

// Node is the network of a node.
type Node struct {
	HostID     int64          `json:"host_id" example:"1" doc:"The host through which the node was read"`
	Host       string         `json:"host" example:"lab"`
	ClusterID  int64          `json:"cluster_id" example:"1"`
	Cluster    string         `json:"cluster" example:"prod" doc:"Name of the cluster; empty for a standalone host"`
	Node       string         `json:"node" example:"pve1"`
	Interfaces []Interface    `json:"interfaces" doc:"Interfaces as they will be after the staged changes are applied"`
	Staged     *string        `json:"staged" doc:"Staged changes of all users, as a unified diff; null if there are none"`
	StagedBy   []StagedChange `json:"staged_by" doc:"Changes that were staged through this service; all others were staged elsewhere"`
}

// Attachment is a NIC of a guest on a bridge.
type Attachment struct {
	ClusterID int64     `json:"cluster_id" example:"1"`
	Node      string    `json:"node" example:"pve1"`
	Bridge    string    `json:"bridge" example:"vmbr0"`
	GuestID   int64     `json:"guest_id" example:"12" doc:"ID in Hostler"`
	Kind      string    `json:"kind" enum:"vm,container"`
	Name      string    `json:"name" example:"web1"`
	VMID      *int64    `json:"vmid" example:"101"`
	NIC       string    `json:"nic" example:"net0"`
	VLAN      *int64    `json:"vlan" example:"20"`
	AsOf      time.Time `json:"as_of" doc:"When the configuration of the guest was last read"`
}

// Failure is a node or a host that could not be read.
type Failure struct {
	HostID  int64    `json:"host_id" example:"1"`
	Host    string   `json:"host" example:"lab"`
	Node    string   `json:"node" example:"pve1" doc:"Name of the node; empty if no node of the host is known"`
	Error   string   `json:"error" example:"hypervisor_error"`
	Reason  *string  `json:"reason" example:"permission" doc:"Reason of a hypervisor_error"`
	Detail  string   `json:"detail"`
	Missing []string `json:"missing" doc:"Privileges that the token lacks"`
	Remedy  *string  `json:"remedy" doc:"Command that grants the missing privileges"`
}

// Bridges is the result of List.
type Bridges struct {
	Nodes       []Node       `json:"nodes"`
	Attachments []Attachment `json:"attachments" doc:"Guests on each bridge, as last read"`
	Unknown     int          `json:"unknown" doc:"Number of guests whose configuration was not read yet; they may be on any bridge"`
	Others      int          `json:"others" doc:"Number of NICs of guests of other teams"`
	Errors      []Failure    `json:"errors" doc:"Nodes and hosts that could not be read"`
}

// find finds a host and a node of its cluster.
func (s *Store) find(ctx context.Context, hostID int64, node string) (host.NodeRef, error) {
	return host.FindNode(ctx, s.DB, hostID, node)
}

// asked reads the visible nodes, each with the host that is connected to it, or
// else one of its cluster, and hosts without nodes.
const asked = `SELECT h.id, c.id, h.team_id, h.name, coalesce(c.name, ''), coalesce(n.name, '')
FROM hosts h LEFT JOIN clusters c ON c.id = h.cluster_id LEFT JOIN nodes n ON n.cluster_id = h.cluster_id
	AND h.id = (SELECT o.id FROM hosts o WHERE o.cluster_id = n.cluster_id AND ($1 OR o.team_id = ANY ($2))
		ORDER BY o.entry_node <> n.name, o.id <> n.host_id, o.id LIMIT 1)
WHERE ($1 OR h.team_id = ANY ($2)) AND ($3::bigint = 0 OR h.id = $3 OR h.cluster_id = (SELECT cluster_id FROM hosts WHERE id = $3))
	AND (n.name IS NOT NULL OR h.cluster_id IS NULL)
ORDER BY c.name, c.id, n.name, h.id`

// These bound a question to many nodes, so that one dead node does not hold up
// the answer of the others.
const (
	// atOnce is how many nodes are read at a time. eachLimit and allLimit bound
	// reading one and all of them, unless the store has other limits.
	atOnce    = 16
	eachLimit = 5 * time.Second
	allLimit  = 90 * time.Second
	// maxTexts bounds the length of a diff in a response, in bytes.
	maxTexts = 64 << 10
)

// List reads the networks of all visible nodes, or of those of a host's
// cluster, with the guests on their bridges. Nodes that cannot be asked are in
// the answer's list of errors.
func (s *Store) List(ctx context.Context, hostID int64, visible identity.VisibleTeams) (Bridges, error) {
	out := Bridges{Nodes: []Node{}, Attachments: []Attachment{}, Errors: []Failure{}}
	rows, err := s.DB.Pool.Query(ctx, asked, visible.All, visible.Teams, hostID)
	if err != nil {
		return out, db.Problem(fmt.Errorf("listing nodes: %w", err))
	}
	places, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p host.NodeRef, err error) {
		var cluster *int64
		err = row.Scan(&p.HostID, &cluster, &p.TeamID, &p.Host, &p.Cluster, &p.Node)
		if cluster != nil {
			p.ClusterID = *cluster
		}
		return p, err
	})
	if err != nil {
		return out, db.Problem(fmt.Errorf("listing nodes: %w", err))
	}
	found, failed := make([]*Node, len(places)), make([]error, len(places))
	var asking sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	inTime, cancel := context.WithTimeout(ctx, cmp.Or(s.ListLimit, allLimit))
	defer cancel()
	for i := range places {
		asking.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				found[i], failed[i] = s.listed(inTime, &places[i])
			case <-inTime.Done():
				failed[i] = problem.New(problem.CodeTimeout, "the node was not queried in time, because too many other nodes did not "+
					"answer")
			}
		})
	}
	asking.Wait()
	clusters := map[int64]bool{}
	for i, p := range places {
		if failed[i] != nil {
			out.Errors = append(out.Errors, failureOf(&p, failed[i]))
		} else {
			out.Nodes = append(out.Nodes, *found[i])
		}
		if p.ClusterID != 0 {
			clusters[p.ClusterID] = true
		}
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	all, err := s.attached(ctx, slices.Collect(maps.Keys(clusters)), "", visible)
	if err != nil {
		return out, err
	}
	out.Attachments, out.Others, out.Unknown = append(out.Attachments, all.seen...), len(all.others), all.unknown
	return out, nil
}

// attachments are the NICs on bridges, of guests that the caller may see and of
// others.
type attachments struct {
	seen   []Attachment
	others []guest.Attachment
	// unknown counts the guests that may be on any bridge.
	unknown int
}

// attached reads the NICs on the bridges of clusters, or of one node.
func (s *Store) attached(ctx context.Context, clusters []int64, node string, visible identity.VisibleTeams) (all attachments, err error) {
	nics, unknown, err := guest.AttachedNICs(ctx, s.DB, clusters, node)
	if err != nil {
		return all, err
	}
	all.unknown = unknown
	for _, n := range nics {
		if !visible.Includes(n.TeamID) {
			all.others = append(all.others, n)
			continue
		}
		all.seen = append(all.seen, Attachment{ClusterID: n.ClusterID, Node: n.Node, Bridge: n.Bridge, GuestID: n.GuestID, Kind: n.Kind,
			Name: n.Name, VMID: n.VMID, NIC: n.NIC, VLAN: n.VLAN, AsOf: n.AsOf.UTC()})
	}
	return all, nil
}

// on returns the visible guests on a bridge, and the number of NICs of others.
func (a attachments) on(bridge string) (seen []Attachment, others int) {
	for _, n := range a.seen {
		if n.Bridge == bridge {
			seen = append(seen, n)
		}
	}
	for _, n := range a.others {
		if n.Bridge == bridge {
			others++
		}
	}
	return seen, others
}

// read asks for the network of a node.
func (s *Store) read(ctx context.Context, p *host.NodeRef) (hypervisor.NodeNetwork, error) {
	n, err := host.Call(ctx, s.Hosts, p.HostID, endpoint.Monitoring,
		func(ctx context.Context, m hypervisor.NetworkManager) (hypervisor.NodeNetwork, error) {
			return m.NodeNetwork(ctx, p.Node)
		})
	return n, host.UnknownNode(err)
}

// listed is node within its share of a list's time.
func (s *Store) listed(ctx context.Context, p *host.NodeRef) (*Node, error) {
	limit := cmp.Or(s.NodeLimit, eachLimit)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	n, err := s.node(ctx, p)
	if err != nil && ctx.Err() != nil {
		return nil, problem.New(problem.CodeTimeout, "the node did not answer within %s", limit).WithCause(err)
	}
	return n, err
}

// node reads the interfaces of a node. It fails if the host was never polled,
// because the node's name is not known then.
func (s *Store) node(ctx context.Context, p *host.NodeRef) (*Node, error) {
	if p.Node == "" {
		return nil, problem.New(problem.CodeInvalidState, "the host's nodes have not been read yet")
	}
	n, err := s.read(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.show(ctx, p, n)
}

// show returns the network of a node in the API's form.
func (s *Store) show(ctx context.Context, p *host.NodeRef, n hypervisor.NodeNetwork) (*Node, error) {
	out := &Node{HostID: p.HostID, Host: p.Host, ClusterID: p.ClusterID, Cluster: p.Cluster, Node: p.Node, Interfaces: []Interface{},
		StagedBy: []StagedChange{}}
	for _, i := range n.Interfaces {
		shown := showInterface(i)
		shown.Staged = stagedOf(n, i)
		out.Interfaces = append(out.Interfaces, shown)
	}
	for _, i := range n.Current {
		if named(n.Interfaces, i.Name) == nil {
			shown, removed := showInterface(i), "removed"
			shown.Staged = &removed
			out.Interfaces = append(out.Interfaces, shown)
		}
	}
	if n.Diff == "" {
		return out, nil
	}
	diff := host.CleanTo(n.Diff, maxTexts)
	out.Staged = &diff
	by, err := s.stagedBy(ctx, p, n)
	out.StagedBy = by
	return out, err
}

// stagedOf describes the staged change of an interface that stays.
func stagedOf(n hypervisor.NodeNetwork, i hypervisor.Interface) *string {
	word := ""
	if was := named(n.Current, i.Name); was == nil {
		word = "added"
	} else if !alike(*was, i) || was.Comment != i.Comment {
		word = "changed"
	}
	if word == "" || n.Diff == "" {
		return nil
	}
	return &word
}

// named finds an interface by its name; nil if there is none.
func named(all []hypervisor.Interface, name string) *hypervisor.Interface {
	if i := slices.IndexFunc(all, func(i hypervisor.Interface) bool { return i.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// showInterface gives an interface in the API's form. Empty texts are null, and
// all are cleaned of control characters.
func showInterface(i hypervisor.Interface) Interface {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		s = host.Clean(s)
		return &s
	}
	out := Interface{Name: host.Clean(i.Name), Type: i.Type, Active: i.Active, Autostart: i.Autostart, CIDR: text(i.CIDR),
		Gateway: text(i.Gateway), CIDR6: text(i.CIDR6), Gateway6: text(i.Gateway6), Dynamic: i.Dynamic, Dynamic6: i.Dynamic6,
		Ports: clean(i.Ports), Device: text(i.Device),
		VLAN: i.VLAN, VLANAware: i.VLANAware, VLANs: text(i.VLANs), BondMode: text(i.BondMode), BondMain: text(i.BondPrimary),
		BondHash: text(i.BondHash), MTU: i.MTU, Comment: host.Clean(i.Comment), OtherNames: clean(i.AltNames),
		Options: map[string]string{}}
	if !slices.Contains(allTypes, i.Type) {
		out.Type = hypervisor.InterfaceOther
	}
	for key, value := range i.Options {
		out.Options[host.Clean(key)] = host.Clean(value)
	}
	return out
}

// allTypes are the interface types that the page can filter by.
var allTypes = []string{hypervisor.InterfaceNIC, hypervisor.InterfaceBridge, hypervisor.InterfaceBond, hypervisor.InterfaceVLAN,
	hypervisor.InterfaceAlias, hypervisor.InterfaceOVS, hypervisor.InterfaceOVSBond, hypervisor.InterfaceOVSPort,
	hypervisor.InterfaceOVSInternal}

// clean cleans texts that come from a hypervisor.
func clean(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = host.Clean(text)
	}
	return out
}

// stagedBy returns who staged the present changes of a node through this
// service. A change that was staged and taken back is left out.
func (s *Store) stagedBy(ctx context.Context, p *host.NodeRef, n hypervisor.NodeNetwork) ([]StagedChange, error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT interface, action, email, at FROM network_staged WHERE cluster_id = $1 AND node = $2
		ORDER BY at, interface`, p.ClusterID, p.Node)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the authors of staged changes: %w", err))
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b StagedChange, err error) {
		err = row.Scan(&b.Interface, &b.Action, &b.User, &b.At)
		b.At = b.At.UTC()
		return b, err
	})
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the authors of staged changes: %w", err))
	}
	if !n.Unclear {
		still := changed(n)
		all = slices.DeleteFunc(all, func(b StagedChange) bool { return !slices.Contains(still, b.Interface) })
	}
	if all == nil {
		all = []StagedChange{}
	}
	return all, nil
}

// failureOf gives the entry for a node that did not answer, with the
// permissions that its token lacks.
func failureOf(p *host.NodeRef, err error) Failure {
	known := problem.From(plugin.Problem(err))
	f := Failure{HostID: p.HostID, Host: p.Host, Node: p.Node, Error: string(known.Code), Detail: known.Detail, Missing: []string{}}
	if reason, ok := known.Members["reason"].(string); ok {
		f.Reason = &reason
	}
	if missing, ok := known.Members["missing"].([]string); ok {
		f.Missing = missing
	}
	if remedy, ok := known.Members["remedy"].(string); ok && strings.TrimSpace(remedy) != "" {
		f.Remedy = &remedy
	}
	return f
}
