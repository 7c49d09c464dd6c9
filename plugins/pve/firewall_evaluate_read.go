package pve

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/plugins/pve/pvefirewall"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// These limit the cost of one question to the evaluator for the host.
const (
	// evaluateRequests are the most requests that one question to the evaluator
	// sends, and evaluateAtOnce how many of them at the same time.
	evaluateRequests = 3000
	evaluateAtOnce   = 8
	// askedGuests is how many guests are asked for their addresses, which some
	// are slow to tell: askLimit is the patience with each.
	askedGuests = 32
	askLimit    = 5 * time.Second
)

// facts is everything that decides about packets, as it was read once.
type facts struct {
	f       *Firewall
	left    atomic.Int64
	slots   chan struct{}
	covered func(firewall.Scope) bool

	at          time.Time
	membership  *membership
	memberError error
	cluster     firewall.State
	groups      []firewall.State
	nodes       map[string]*nodeFacts
	guests      map[string]*guestFacts

	corosync      *pvefirewall.Corosync
	corosyncError error
}

// nodeFacts is a node's firewall and addresses; err is the reason why they are
// unknown.
type nodeFacts struct {
	state   firewall.State
	network hypervisor.NodeNetwork
	err     error
}

// guestFacts is a guest's firewall and interfaces; err is the reason why they
// are unknown.
type guestFacts struct {
	guest firewall.Guest
	id    int
	nics  []nicFacts
	state firewall.State
	err   error
	// ask says that the guest is asked for addresses that its configuration does not have.
	ask bool
}

// nicFacts is a NIC of a guest with what is known of its addresses.
type nicFacts struct {
	pvefirewall.NIC
	number int
	// addresses are those that are configured, or that the guest tells.
	addresses []netip.Addr
}

// errEvaluateBound is the error when a question has sent as many requests as it
// may.
var errEvaluateBound = errors.New("the limit of 3000 requests for one evaluation is reached")

// do sends one request, if one is left and when a slot is free.
func (k *facts) do(ctx context.Context, send func() error) error {
	if k.left.Add(-1) < 0 {
		return errEvaluateBound
	}
	select {
	case k.slots <- struct{}{}:
		defer func() { <-k.slots }()
		return send()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read reads what the ends need: the firewall of the cluster with its groups
// first, then nodes and guests, several at the same time. A scope that every
// state assumes is not read. If a node or a guest cannot be read, its err says
// so; read itself fails only if nothing can be judged any more.
//
// The requests: for the cluster 3, and one for each IP set and each group; for
// a node 3, and 3 more for all nodes together; for a guest one, 4 more and one
// for each IP set if its firewall is on, and one more if it is asked for its
// addresses.
func (k *facts) read(ctx context.Context, ends []firewall.End) error {
	k.at, k.left, k.slots = time.Now(), atomic.Int64{}, make(chan struct{}, evaluateAtOnce)
	k.left.Store(evaluateRequests)
	k.nodes, k.guests = map[string]*nodeFacts{}, map[string]*guestFacts{}
	if slices.ContainsFunc(ends, func(e firewall.End) bool { return e.Kind == firewall.NodeEnd || e.Kind == firewall.AddressEnd }) {
		if err := k.readMembers(ctx); err != nil {
			return err
		}
	}
	for _, end := range ends {
		k.need(end)
	}
	var wg sync.WaitGroup
	var fatal sync.Map
	each := func(what string, read func() error) {
		wg.Go(func() {
			if err := read(); err != nil {
				fatal.Store(what, err)
			}
		})
	}
	each("cluster", func() (err error) { k.cluster, err = k.state(ctx, clusterOnly); return err })
	each("groups", func() error { return k.readGroups(ctx) })
	for name, node := range k.nodes {
		wg.Go(func() { node.err = k.readNode(ctx, name, node) })
	}
	for _, guest := range k.guests {
		wg.Go(func() { guest.err = k.readGuest(ctx, guest) })
	}
	wg.Wait()
	for _, what := range []string{"cluster", "groups"} {
		if err, failed := fatal.Load(what); failed {
			return err.(error)
		}
	}
	return ctx.Err()
}

// clusterOnly is the scope of the cluster.
var clusterOnly = firewall.Scope{Kind: firewall.ClusterScope}

// need records that the node and the guest of an end must be read.
func (k *facts) need(end firewall.End) {
	node := end.Node
	switch end.Kind {
	case firewall.GuestEnd:
		node = end.Guest.Node
		g, known := k.guests[end.Guest.ID]
		if !known {
			g = &guestFacts{guest: *end.Guest}
			k.guests[end.Guest.ID] = g
		}
		if end.Address == "" {
			g.ask = true
		}
	case firewall.AddressEnd:
		node, _ = k.nodeWith(end.Address)
	}
	if node != "" && k.nodes[node] == nil {
		k.nodes[node] = &nodeFacts{}
	}
}

// nodeWith returns the node that the cluster knows by an address.
func (k *facts) nodeWith(address string) (string, bool) {
	if k.membership == nil {
		return "", false
	}
	for _, n := range k.membership.order {
		if sameAddress(n.Address, address) {
			return n.Name, true
		}
	}
	return "", false
}

// sameAddress reports whether two texts are the same address. They are parsed,
// because an IPv6 address has several forms (RFC 5952).
func sameAddress(a, b string) bool {
	x, err := netip.ParseAddr(a)
	y, err2 := netip.ParseAddr(b)
	return err == nil && err2 == nil && x.Unmap() == y.Unmap()
}

// readMembers reads the members of the cluster and, if there are several, the
// addresses that corosync uses.
func (k *facts) readMembers(ctx context.Context) error {
	err := k.do(ctx, func() (err error) { k.membership, err = k.f.host.members(ctx); return err })
	if k.memberError = err; err != nil {
		return bearable(ctx, err)
	}
	if len(k.membership.order) > 1 {
		k.corosyncError = k.readCorosync(ctx)
	}
	return bearable(ctx, k.corosyncError)
}

// bearable returns only errors after which nothing else can be read either.
func bearable(ctx context.Context, err error) error {
	switch plugin.KindOf(err) {
	case plugin.TokenRejected, plugin.Untrusted, plugin.Unreachable:
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// readCorosync reads the addresses through which the nodes of the cluster
// communicate: up to eight rings per node. An empty transport means knet, the
// default since corosync 3.
func (k *facts) readCorosync(ctx context.Context) error {
	var totem struct {
		Transport pveapi.Text `json:"transport"`
	}
	err := k.do(ctx, func() error { _, err := k.f.host.api.Get(ctx, "/cluster/config/totem", nil, &totem); return err })
	if err != nil {
		return err
	}
	var rows []map[string]pveapi.Text
	if err := k.do(ctx, func() error {
		_, err := k.f.host.api.Get(ctx, "/cluster/config/nodes", nil, &rows)
		return err
	}); err != nil {
		return err
	}
	k.corosync = &pvefirewall.Corosync{Transport: string(totem.Transport)}
	if k.corosync.Transport == "" {
		k.corosync.Transport = "knet"
	}
	for _, row := range rows {
		node := pvefirewall.CorosyncNode{Name: string(row["name"])}
		if node.Name == "" {
			node.Name = string(row["node"])
		}
		for _, ring := range []string{"ring0_addr", "ring1_addr", "ring2_addr", "ring3_addr", "ring4_addr", "ring5_addr", "ring6_addr",
			"ring7_addr"} {
			address, _ := netip.ParseAddr(string(row[ring])) // a name that is none counts as no address
			node.Rings = append(node.Rings, address)
		}
		k.corosync.Nodes = append(k.corosync.Nodes, node)
	}
	return nil
}

// state reads everything of a scope that is not assumed.
func (k *facts) state(ctx context.Context, scope firewall.Scope) (s firewall.State, err error) {
	s.Scope = scope
	if k.covered(scope) {
		return s, nil
	}
	if err := k.do(ctx, func() (err error) { s.Options, err = k.f.Options(ctx, scope); return err }); err != nil {
		return s, err
	}
	if scope.Kind == firewall.GuestScope && (s.Options.Enable == nil || !*s.Options.Enable) {
		return s, nil // nothing else of it is in force
	}
	if err := k.do(ctx, func() (err error) { s.Rules, _, err = k.f.Rules(ctx, scope); return err }); err != nil {
		return s, err
	}
	if scope.Kind == firewall.NodeScope {
		return s, nil
	}
	if err := k.do(ctx, func() (err error) { s.Aliases, _, err = k.f.Aliases(ctx, scope); return err }); err != nil {
		return s, err
	}
	var sets []firewall.IPSet
	if err := k.do(ctx, func() (err error) { sets, _, err = k.f.IPSets(ctx, scope); return err }); err != nil {
		return s, err
	}
	s.IPSets = make([]firewall.IPSetState, len(sets))
	errs := make([]error, len(sets))
	var wg sync.WaitGroup
	for i, set := range sets {
		s.IPSets[i].IPSet = set
		wg.Go(func() {
			errs[i] = k.do(ctx, func() (err error) { s.IPSets[i].Members, _, err = k.f.IPSetMembers(ctx, scope, set.Name); return err })
		})
	}
	wg.Wait()
	for i, err := range errs {
		switch {
		case plugin.KindOf(err) == plugin.NotFound:
			s.IPSets[i].Name = "" // it is gone meanwhile
		case err != nil:
			return s, err
		}
	}
	s.IPSets = slices.DeleteFunc(s.IPSets, func(s firewall.IPSetState) bool { return s.Name == "" })
	return s, nil
}

// readGroups reads all security groups in parallel. Any rule may refer to one.
func (k *facts) readGroups(ctx context.Context) error {
	var groups []firewall.Group
	if err := k.do(ctx, func() (err error) { groups, _, err = k.f.Groups(ctx); return err }); err != nil {
		return err
	}
	k.groups = make([]firewall.State, len(groups))
	errs := make([]error, len(groups))
	var wg sync.WaitGroup
	for i, group := range groups {
		s := &k.groups[i]
		s.Scope = firewall.Scope{Kind: firewall.GroupScope, Group: group.Name}
		if k.covered(s.Scope) {
			continue
		}
		wg.Go(func() {
			errs[i] = k.do(ctx, func() (err error) { s.Rules, _, err = k.f.Rules(ctx, s.Scope); return err })
			if plugin.KindOf(errs[i]) == plugin.NotFound && errs[i] != nil {
				s.Absent, errs[i] = true, nil
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// readNode reads the firewall and the network of a node.
func (k *facts) readNode(ctx context.Context, name string, node *nodeFacts) (err error) {
	if node.state, err = k.state(ctx, firewall.Scope{Kind: firewall.NodeScope, Node: name}); err != nil {
		return err
	}
	return k.do(ctx, func() (err error) { node.network, err = k.f.host.NodeNetwork(ctx, name); return err })
}

// readGuest reads the firewall, the NICs and the addresses of a guest.
func (k *facts) readGuest(ctx context.Context, g *guestFacts) error {
	ref := hypervisor.GuestRef{Kind: hypervisor.GuestKind(g.guest.Kind), Node: g.guest.Node, ID: hypervisor.GuestID(g.guest.ID)}
	number, err := vmid(ref.ID)
	if err != nil {
		return err
	}
	g.id = int(number)
	var rows []configRow
	if err := k.do(ctx, func() (err error) { rows, err = k.f.host.configRows(ctx, ref); return err }); err != nil {
		return err
	}
	g.readNICs(ref.Kind, rows)
	firewalled := slices.ContainsFunc(g.nics, func(n nicFacts) bool { return n.Firewall })
	if g.state.Scope = (firewall.Scope{Kind: firewall.GuestScope, Guest: &g.guest}); firewalled {
		if g.state, err = k.state(ctx, g.state.Scope); err != nil {
			return err
		}
	}
	if g.ask && len(k.guests) <= askedGuests {
		k.askAddresses(ctx, ref, g)
	}
	return nil
}

// readNICs reads the interfaces with their configured addresses: those of a
// container, or those of a VM's cloud-init.
func (g *guestFacts) readNICs(kind hypervisor.GuestKind, rows []configRow) {
	values := map[string]string{}
	for _, row := range rows {
		values[string(row.Key)] = string(row.Value)
	}
	for _, n := range configOf(hypervisor.GuestRef{Kind: kind}, rows).NICs {
		number := number(strings.TrimPrefix(n.Key, "net"))
		if number == nil || *number < 0 || *number >= pvefirewall.MaxNICs {
			continue
		}
		one := nicFacts{NIC: pvefirewall.NIC{Name: n.Key, Bridge: n.Bridge, Firewall: n.Firewall}, number: int(*number)}
		one.MAC, _ = pvefirewall.ParseMAC(n.MAC) // zero where it is none
		init := properties(values["ipconfig"+strings.TrimPrefix(n.Key, "net")])
		for _, text := range []string{n.IP, n.IP6} {
			if p, ok := prefixOf(text); ok {
				one.Addresses = append(one.Addresses, p.Addr())
			}
		}
		one.addresses = one.Addresses
		for _, text := range []string{init["ip"], init["ip6"]} {
			if p, ok := prefixOf(text); ok && kind == hypervisor.VM {
				one.addresses = append(one.addresses, p.Addr())
			}
		}
		g.nics = append(g.nics, one)
	}
	slices.SortFunc(g.nics, func(a, b nicFacts) int { return a.number - b.number })
}

// askAddresses asks the guest for the addresses of interfaces without
// configured ones. If the guest does not answer, they stay unknown.
func (k *facts) askAddresses(ctx context.Context, ref hypervisor.GuestRef, g *guestFacts) {
	if !slices.ContainsFunc(g.nics, func(n nicFacts) bool { return len(n.addresses) == 0 }) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var told []hypervisor.NICAddresses
	if k.do(ctx, func() (err error) { told, err = k.f.host.Addresses(ctx, ref); return err }) != nil {
		return
	}
	for i := range g.nics {
		for _, t := range told {
			mac, err := pvefirewall.ParseMAC(t.MAC)
			if err != nil || mac != g.nics[i].MAC || len(g.nics[i].Addresses) > 0 {
				continue
			}
			for _, text := range t.Addresses {
				if p, ok := prefixOf(text); ok && p.Addr().IsGlobalUnicast() {
					g.nics[i].addresses = append(g.nics[i].addresses, p.Addr())
				}
			}
		}
	}
}
