package draft

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/firewall"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/core/proxy"
	"github.com/hostler/hostler/sdk/endpoint"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// Limits of the comparison in a plan.
const (
	// maxGuests bounds the guests among whom is compared: the rules of each are
	// read, and each is asked for its addresses, which hypervisors do for not
	// many more. The plan says how many were left out.
	maxGuests = 30
	// maxNodes bounds the nodes between which is compared, and maxPorts the
	// ports by which they reach each other.
	maxNodes, maxPorts = 16, 3
	// maxTold bounds the pairs that a plan names.
	maxTold = 200
	// maxNIC bounds the name of a network interface, in bytes.
	maxNIC = 40
	// maxReasons bounds the reasons that a plan names why something cannot be told.
	maxReasons = 5
	// secureShell is the port by which nodes of most clusters reach each other besides.
	secureShell = 22
)

// trafficCheck is the effect of a draft on traffic, as far as the firewall can
// tell.
type trafficCheck struct {
	// cut are ways that are cut, and unclear why it cannot be told of others:
	// sentences without their end.
	cut, unclear []string
	pairs        []sdk.PairChange
	omitted      int
	// guests are those that were compared by their ids at the hypervisor, and
	// unseen how many were not.
	guests map[string]known
	unseen int
	doubts []string
	// used are sentences of what the draft deletes and others name.
	used []string
}

// known is a guest that was compared.
type known struct {
	Name   string
	TeamID int64
	guest  sdk.Guest
}

// asks reports whether the service, its cluster or the caller may be cut off,
// so that Commit asks for a confirmation.
func (j *trafficCheck) asks() bool { return len(j.cut) > 0 || len(j.unclear) > 0 }

// text summarises the judgement in one sentence.
func (j *trafficCheck) text() string {
	switch {
	case len(j.cut) > 0:
		return "This breaks " + strings.Join(j.cut, "; ") + "."
	case len(j.unclear) > 0:
		return "Hostler cannot determine whether this service or its cluster is cut off: " + strings.Join(j.unclear, "; ") + "."
	}
	return "The connections from this service to the nodes, and between the nodes, stay open."
}

// probe is a connection that must stay possible.
type probe struct {
	what   string
	packet sdk.Packet
	// used says that the service lives on it, so that it is known to be open now.
	used bool
}

// checkTraffic compares the traffic before and after. If the firewall cannot be asked
// or cannot tell, that is no error but a reason for a confirmation, and only if
// a scope of the draft can cut off the service at all.
func (s *Store) checkTraffic(ctx context.Context, r *record) (*trafficCheck, error) {
	j := &trafficCheck{guests: map[string]known{}}
	var before, after []sdk.State
	for i := range r.Scopes {
		before, after = append(before, r.Scopes[i].Before), append(after, r.Scopes[i].After)
	}
	_, j.doubts = inOrder(before, after)
	var err error
	if j.used, err = s.usages(ctx, r); err != nil {
		return nil, err
	}
	own, err := s.ownGuest(ctx, r)
	if err != nil {
		return nil, err
	}
	risky := slices.ContainsFunc(r.Scopes, func(sc stored) bool {
		return sc.GuestID == 0 || own != nil && sc.Before.Scope.Guest.ID == own.ID && sc.Before.Scope.Guest.Kind == own.Kind
	})
	doubt := func(format string, args ...any) {
		if risky {
			j.unclear = append(j.unclear, fmt.Sprintf(format, args...))
		}
	}
	q := sdk.CompareQuery{Before: before, After: after}
	if err := s.compared(ctx, r, j); err != nil {
		return nil, err
	}
	for _, g := range j.guests {
		q.Guests = append(q.Guests, g.guest)
	}
	slices.SortFunc(q.Guests, func(a, b sdk.Guest) int { return strings.Compare(a.Kind+a.ID, b.Kind+b.ID) })
	probes, err := s.probes(ctx, r, own)
	if err != nil {
		return nil, err
	}
	if len(probes) == 0 {
		doubt("the address at which the service reaches a node is unknown")
	}
	if err := s.beyond(ctx, r, doubt); err != nil {
		return nil, err
	}
	for _, p := range probes {
		q.Probes = append(q.Probes, p.packet)
	}
	found, err := firewall.WithFirewall(ctx, s.Firewalls, r.HostID, endpoint.Monitoring, func(ctx context.Context, fw sdk.Firewall) (
		sdk.Comparison,
		error) {
		able, err := have[sdk.Evaluator](fw, sdk.Scope{Kind: sdk.ClusterScope})
		if err != nil {
			return sdk.Comparison{}, err
		}
		return able.Compare(ctx, q)
	})
	if err != nil {
		if problem.CodeOf(err) == problem.CodeUnsupported || problem.CodeOf(err) == problem.CodeUnsupportedAtScope {
			doubt("the firewall of this hypervisor cannot evaluate packets")
		} else {
			doubt("the firewall did not answer (%s)", job.Explain(err))
		}
		return j, nil
	}
	j.pairs, j.omitted = found.Pairs, found.Omitted
	if len(found.Probes) != len(probes) {
		doubt("the firewall did not answer all queries")
		return j, nil
	}
	for i, p := range found.Probes {
		was, is := p.Before.Outcome, p.After.Outcome
		switch {
		case is == sdk.Accepted:
		case is == sdk.Unknown:
			doubt("%s: %s", probes[i].what, p.After.Reason)
		case was == sdk.Accepted:
			j.cut = append(j.cut, probes[i].what)
		case was == sdk.Unknown:
			doubt("%s: %s", probes[i].what, p.Before.Reason)
		case probes[i].used:
			doubt("%s is not allowed by any rule now either", probes[i].what)
		}
	}
	for _, c := range found.Cluster {
		what := fmt.Sprintf("the cluster traffic from the node %s to the node %s (%s)", c.From, c.To, c.Traffic)
		if c.From == "" || c.To == "" {
			what = fmt.Sprintf("the cluster traffic between nodes (%s)", c.Traffic)
		}
		switch was, is := c.Before.Outcome, c.After.Outcome; {
		case is == sdk.Unknown:
			doubt("%s: %s", what, c.After.Reason)
		case was == sdk.Unknown && is != sdk.Accepted:
			doubt("%s: %s", what, c.Before.Reason)
		case was == sdk.Accepted && is != sdk.Accepted:
			j.cut = append(j.cut, what)
		}
	}
	return j, nil
}

// ownGuest returns the guest of the cluster in which the service runs, or nil.
func (s *Store) ownGuest(ctx context.Context, r *record) (*sdk.Guest, error) {
	if s.Self == nil {
		return nil, nil
	}
	ids, err := s.Self.Guests(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	for _, id := range ids {
		var same bool
		err := s.DB.Pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM guests WHERE id = $1 AND cluster_id = $2)", id, r.ClusterID).Scan(&same)
		if err != nil {
			return nil, db.Problem(fmt.Errorf("reading our own guest: %w", err))
		}
		if same {
			at, err := s.guestScope(ctx, id)
			return at.Guest, err
		}
	}
	return nil, nil
}

// probes returns the connections that must stay possible: from the service to
// each node to which it is connected, also by SSH if a key is in use; between
// the nodes; and from the caller to the service, if the service runs in the
// cluster.
func (s *Store) probes(ctx context.Context, r *record, own *sdk.Guest) (all []probe, err error) {
	rows, err := s.DB.Pool.Query(ctx, `SELECT address, entry_node, CASE WHEN EXISTS (SELECT FROM host_ssh_keys k
			WHERE k.host_id = hosts.id AND k.state = 'active') THEN ssh_port END
		FROM hosts WHERE cluster_id = $1 AND entry_node <> '' ORDER BY id LIMIT $2`, r.ClusterID, maxNodes)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the hosts of a cluster: %w", err))
	}
	type member struct {
		Address, Node string
		SSH           *int
	}
	hosts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[member])
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the hosts of a cluster: %w", err))
	}
	ports := []int{secureShell}
	for _, h := range hosts {
		_, text, err := net.SplitHostPort(h.Address)
		port, err2 := strconv.Atoi(text)
		if err != nil || err2 != nil {
			continue
		}
		if !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
		from := sdk.End{Kind: sdk.OutsideEnd}
		if mine := localAddress(h.Address); mine.IsValid() {
			from = sdk.End{Kind: sdk.AddressEnd, Address: mine.String()}
		}
		if own != nil {
			from = sdk.End{Kind: sdk.GuestEnd, Guest: own}
		}
		packet := sdk.Packet{From: from, To: sdk.End{Kind: sdk.NodeEnd, Node: h.Node}, Protocol: "tcp", DestinationPort: port}
		all = append(all, probe{what: fmt.Sprintf("the connection from this service to the node %s (TCP port %d)",
			h.Node, port), packet: packet,
			used: true})
		if h.SSH != nil {
			packet.DestinationPort = *h.SSH
			all = append(all, probe{what: fmt.Sprintf("the SSH connection from this service to the node %s (TCP port %d)", h.Node, *h.SSH),
				packet: packet})
		}
	}
	nodes, err := s.nodes(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, a := range nodes {
		for _, b := range nodes {
			for _, port := range ports[:min(len(ports), maxPorts)] {
				if a != b {
					all = append(all, probe{what: fmt.Sprintf("the connection from the node %s to the node %s (TCP port %d)", a, b, port),
						packet: sdk.Packet{From: sdk.End{Kind: sdk.NodeEnd, Node: a}, To: sdk.End{Kind: sdk.NodeEnd, Node: b}, Protocol: "tcp",
							DestinationPort: port}})
				}
			}
		}
	}
	if p := caller(ctx, own); p != nil {
		all = append(all, *p)
	}
	return all, nil
}

// beyond notes that there are more nodes than probes asks about.
func (s *Store) beyond(ctx context.Context, r *record, doubt func(format string, args ...any)) error {
	var hosts, nodes int
	err := s.DB.Pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM hosts WHERE cluster_id = $1 AND entry_node <> ''),
		(SELECT count(*) FROM nodes WHERE cluster_id = $1)`, r.ClusterID).Scan(&hosts, &nodes)
	if err != nil {
		return db.Problem(fmt.Errorf("counting the nodes of a cluster: %w", err))
	}
	if most := max(hosts, nodes); most > maxNodes {
		doubt("only %d of the %d nodes were checked", maxNodes, most)
	}
	return nil
}

// caller returns the caller's present connection to the service, if that runs
// in a guest of the cluster. Behind a trusted proxy it is the proxy's
// connection, unless the proxy runs in the same guest: then it is the caller's
// connection to the proxy.
func caller(ctx context.Context, own *sdk.Guest) *probe {
	attempt, local := audit.FromContext(ctx), ctx.Value(http.LocalAddrContextKey)
	if own == nil || attempt == nil || local == nil {
		return nil
	}
	from, err := netip.ParseAddr(attempt.Entry().Address)
	tcp, is := local.(*net.TCPAddr)
	if err != nil || !is {
		return nil
	}
	what, port := "your own connection to this service", tcp.Port
	switch site := proxy.SiteOf(ctx, nil); {
	case !site.Proxy.IsValid():
	case site.Proxy.IsLoopback() || site.Proxy == tcp.AddrPort().Addr().Unmap().WithZone(""):
		port = site.Port
	default:
		what, from = what+" through the proxy "+site.Proxy.String(), site.Proxy
	}
	if from.IsLoopback() {
		return nil
	}
	return &probe{what: what, packet: sdk.Packet{From: sdk.End{Kind: sdk.AddressEnd, Address: from.Unmap().String()},
		To: sdk.End{Kind: sdk.GuestEnd, Guest: own}, Protocol: "tcp", DestinationPort: port}}
}

// localAddress returns the address by which this machine reaches another;
// invalid if it is unknown or the loopback. Dialling UDP sends nothing; the
// kernel only chooses a route.
func localAddress(address string) netip.Addr {
	conn, err := net.DialTimeout("udp", address, time.Second) // sends nothing
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = conn.Close() }()
	at, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil || at.Addr().IsLoopback() {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// nodes returns the names of the cluster's nodes, at most maxNodes.
func (s *Store) nodes(ctx context.Context, r *record) ([]string, error) {
	rows, err := s.DB.Pool.Query(ctx, "SELECT name FROM nodes WHERE cluster_id = $1 ORDER BY name LIMIT $2", r.ClusterID, maxNodes)
	if err != nil {
		return nil, db.Problem(fmt.Errorf("reading the nodes of a cluster: %w", err))
	}
	nodes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return nodes, db.Problem(err)
}

// compared chooses the guests to compare, those of the draft first.
func (s *Store) compared(ctx context.Context, r *record, j *trafficCheck) error {
	var own []int64
	for i := range r.Scopes {
		if id := r.Scopes[i].GuestID; id != 0 {
			own = append(own, id)
		}
	}
	rows, err := s.DB.Pool.Query(ctx, `SELECT g.name, h.team_id, g.kind, g.node, g.ref, coalesce(g.uid, ''), count(*) OVER ()
		FROM guests g JOIN hosts h ON h.id = g.host_id WHERE g.cluster_id = $1 AND NOT g.template ORDER BY g.id <> ALL ($2), g.id LIMIT $3`,
		r.ClusterID, own, maxGuests)
	if err != nil {
		return db.Problem(fmt.Errorf("reading the guests of a cluster: %w", err))
	}
	total := 0
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k known, err error) {
		err = row.Scan(&k.Name, &k.TeamID, &k.guest.Kind, &k.guest.Node, &k.guest.ID, &k.guest.UID, &total)
		return k, err
	})
	if err != nil {
		return db.Problem(fmt.Errorf("reading the guests of a cluster: %w", err))
	}
	for _, k := range all {
		j.guests[k.guest.Kind+" "+k.guest.ID] = k
	}
	j.unseen = total - len(all)
	return nil
}

// tell writes the effects of a commit into its plan. It names no guest that the
// caller may not see.
func (s *Store) tell(ctx context.Context, r *record, j *trafficCheck, window time.Duration, p *plan.Plan) {
	p.Add(plan.KindHost, r.Cluster, "%s", j.text())
	for _, text := range j.used {
		p.Warn("%s.", strings.ToUpper(text[:1])+text[1:]) // each begins with a word of ours
	}
	for i := range r.Scopes {
		sc := &r.Scopes[i]
		lines := differences(sc.Before, sc.After)
		if len(lines) == 0 {
			p.Add(plan.KindRule, sc.Name, "Nothing changes for %s.", sc.title())
			continue
		}
		p.Add(plan.KindRule, sc.Name, "At %s:\n%s", sc.title(), strings.Join(lines, "\n"))
	}
	visible, hidden, told := identity.FromContext(ctx).Visible(), 0, 0
	untold := map[string][]string{}
	for _, pair := range j.pairs {
		from, seen := j.name(pair.From, visible)
		to, also := j.name(pair.To, visible)
		switch {
		case !seen || !also:
			hidden++
		case pair.Unknown != "":
			untold[pair.Unknown] = append(untold[pair.Unknown], from+" can reach on "+to)
		case told == maxTold:
			j.omitted++
		default:
			told++
			p.Add(plan.KindTraffic, to, "%s to %s: %s.", from, to, gains(pair))
		}
	}
	reasons := slices.Sorted(maps.Keys(untold))
	for _, why := range reasons[:min(len(reasons), maxReasons)] {
		what := untold[why][0]
		if more := len(untold[why]) - 1; more > 0 {
			what += fmt.Sprintf(" (and %d more pairs)", more)
		}
		p.Add(plan.KindTraffic, "", "It is unknown what %s: %s", what, why)
	}
	if others := reasons[min(len(reasons), maxReasons):]; len(others) > 0 {
		pairs := 0
		for _, why := range others {
			pairs += len(untold[why])
		}
		p.Add(plan.KindTraffic, "", "It is also unknown what %d more pairs can reach, for %d more reasons.", pairs, len(others))
	}
	if hidden > 0 {
		p.Add(plan.KindTraffic, "", "%s something.",
			plan.Plural(hidden, "1 pair with a guest of another team gains or loses access to",
				"%d pairs with guests of other teams gain or lose access to"))
	}
	if j.omitted > 0 {
		p.Warn("%d more pairs gain or lose access to something.", j.omitted)
	}
	if j.unseen > 0 {
		p.Warn("%d more guests of the cluster were not compared.", j.unseen)
	}
	for _, d := range j.doubts {
		p.Warn("W%s%s.", inBetween[1:], d)
	}
	p.Warn("All changes are undone after %s unless you confirm them.", window)
}

// name returns an end in words; false for a guest that the caller may not see.
func (j *trafficCheck) name(e sdk.End, visible identity.VisibleTeams) (string, bool) {
	switch {
	case e.Kind == sdk.GuestEnd && e.Guest != nil:
		k, is := j.guests[e.Guest.Kind+" "+e.Guest.ID]
		if !is {
			return string(hypervisor.GuestID(e.Guest.ID)), true
		}
		name := k.Name
		if e.NIC != "" { // of one that has several
			name += " (" + host.CleanTo(e.NIC, maxNIC) + ")"
		}
		return name, visible.Includes(k.TeamID)
	case e.Kind == sdk.NodeEnd:
		return "the node " + e.Node, true
	case e.Kind == sdk.AddressEnd:
		return e.Address, true
	}
	return "outside", true
}

// gains describes what a pair gains and loses.
func gains(c sdk.PairChange) string {
	var parts []string
	list := func(word string, ports []sdk.Ports, echo bool) {
		var all []string
		for _, p := range ports {
			if p.First == p.Last {
				all = append(all, fmt.Sprintf("%s %d", p.Protocol, p.First))
			} else {
				all = append(all, fmt.Sprintf("%s %d-%d", p.Protocol, p.First, p.Last))
			}
		}
		if echo {
			all = append(all, "ICMP echo")
		}
		if len(all) > 20 {
			all = append(all[:20], fmt.Sprintf("and %d more", len(all)-20))
		}
		if len(all) > 0 {
			parts = append(parts, word+" "+strings.Join(all, ", "))
		}
	}
	list("gains", c.Gained, c.GainsEcho)
	list("loses", c.Lost, c.LosesEcho)
	if len(parts) == 0 {
		return "nothing changes"
	}
	return strings.Join(parts, "; ")
}
