package network

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/change"
	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/guest"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/idempotency"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/plan"
	"github.com/hostler/hostler/core/plugin"
	"github.com/hostler/hostler/core/problem"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	sdk "github.com/hostler/hostler/sdk/plugin"
)

// StageResult is the result of staging a change.
type StageResult struct {
	HostID    int64   `json:"host_id" example:"1"`
	Node      string  `json:"node" example:"pve1"`
	Interface string  `json:"iface" example:"vmbr1"`
	Action    string  `json:"action" enum:"create,edit,delete"`
	Diff      *string `json:"staged" doc:"All staged changes on the node, by any user, as a unified diff; null if they could not be read afterwards or none are left"`
}

// RevertResult is the result of Revert.
type RevertResult struct {
	HostID   int64          `json:"host_id" example:"1"`
	Node     string         `json:"node" example:"pve1"`
	Reverted bool           `json:"reverted" doc:"false if nothing was staged"`
	Diff     *string        `json:"diff" doc:"Discarded changes as a unified diff; null for none"`
	StagedBy []StagedChange `json:"staged_by" doc:"Discarded changes that were staged through this service, and the users who staged them"`
	Others   []string       `json:"others" doc:"Interfaces whose discarded changes were staged elsewhere"`
}

// These bound the requests of a change that is only staged: it changes files on
// the node and nothing that runs.
const (
	// sendLimit bounds one request that stages something.
	sendLimit = 30 * time.Second
	// changeLimit bounds it with what is read afterwards.
	changeLimit = sendLimit + 40*time.Second
)

// Request names the interface of a change.
type Request struct {
	HostID     int64
	Node, Name string
	// Confirm is the interface's name where a bridge with guests is changed all
	// the same; nil for none.
	Confirm *string
}

// able returns the problem capability_missing, or unsupported.
func (s *Store) able(ctx context.Context, hostID int64) error {
	return s.Hosts.Require(ctx, hostID, endpoint.Lifecycle, func(at hypervisor.Host) error {
		_, err := host.AsAbility[hypervisor.NetworkManager](at)
		return err
	})
}

// begin begins every change: it finds the place, checks what the host can do,
// and reads the present network.
func (s *Store) begin(ctx context.Context, hostID int64, node string) (host.NodeRef, hypervisor.NodeNetwork, error) {
	p, err := s.find(ctx, hostID, node)
	if err == nil {
		err = s.able(ctx, hostID)
	}
	if err != nil {
		return p, hypervisor.NodeNetwork{}, err
	}
	n, err := s.read(ctx, &p)
	return p, n, err
}

// Create stages a new interface. All faults are one problem invalid. Other
// problems: not_found, conflict for a name that is in use, capability_missing,
// unsupported, guest_busy while the node's network is being changed,
// outcome_unknown, and those of host.Call.
func (s *Store) Create(ctx context.Context, r Request, kind string, config Config) (StageResult, error) {
	if faults := checkName(r.Name, kind); faults != nil {
		return StageResult{}, problem.Invalid(faults...)
	}
	p, n, err := s.begin(ctx, r.HostID, r.Node)
	if err != nil {
		return StageResult{}, err
	}
	o := intend(n.Interfaces, hypervisor.Interface{Name: r.Name, Type: kind}, config)
	if len(o.faults) > 0 {
		return StageResult{}, problem.Invalid(o.faults...)
	}
	if byAnyName(n.Interfaces, r.Name) != nil {
		return StageResult{}, problem.New(problem.CodeConflict, "the node already has an interface %s, or one is staged", r.Name)
	}
	done := StageResult{HostID: r.HostID, Node: r.Node, Interface: r.Name, Action: "create"}
	if err := idempotency.SaveData(ctx, done); err != nil {
		return StageResult{}, err
	}
	return s.stage(ctx, &p, n, done, o, nil)
}

// ReplayCreate returns the answer of Create again, with the presently staged
// changes.
func (s *Store) ReplayCreate(ctx context.Context, made idempotency.Result) (StageResult, error) {
	var was StageResult
	if err := json.Unmarshal(made.Data, &was); err != nil {
		return StageResult{}, fmt.Errorf("decoding the job's parameters: %w", err)
	}
	if p, err := s.find(ctx, was.HostID, was.Node); err == nil {
		was.Diff = s.diff(ctx, &p)
	}
	return was, nil
}

// diff returns the staged changes of a node; nil if there are none or they
// cannot be read.
func (s *Store) diff(ctx context.Context, p *host.NodeRef) *string {
	now, err := s.read(ctx, p)
	if err != nil || now.Diff == "" {
		return nil
	}
	diff := host.CleanTo(now.Diff, maxTexts)
	return &diff
}

// Edit stages a change of an interface. Problems: those of Create, and
// bridge_in_use for a change that guests on a bridge notice, unless the
// interface's name confirms it.
func (s *Store) Edit(ctx context.Context, r Request, config Config) (StageResult, error) {
	if len(config) == 0 {
		return StageResult{}, guest.NothingToChange()
	}
	p, n, err := s.begin(ctx, r.HostID, r.Node)
	if err != nil {
		return StageResult{}, err
	}
	was := named(n.Interfaces, r.Name)
	if was == nil {
		return StageResult{}, problem.New(problem.CodeNotFound, "the node does not have the interface %.40q", r.Name)
	}
	if was.Type == hypervisor.InterfaceOther {
		return StageResult{}, problem.New(problem.CodeUnsupported, "interfaces of this type cannot be edited here")
	}
	o := intend(n.Interfaces, *was, config)
	if len(o.faults) > 0 {
		return StageResult{}, problem.Invalid(o.faults...)
	}
	if !samePassage(*was, o.want) {
		if err := s.inUse(ctx, &p, n, *was, r.Confirm); err != nil {
			return StageResult{}, err
		}
	}
	return s.stage(ctx, &p, n, StageResult{HostID: r.HostID, Node: r.Node, Interface: r.Name, Action: "edit"}, o, was)
}

// samePassage reports whether guests on a bridge do not notice a change: it
// concerns only addresses of the node, or a comment.
func samePassage(a, b hypervisor.Interface) bool { return alike(addressless(a), addressless(b)) }

// addressless returns an interface without the node's addresses.
func addressless(i hypervisor.Interface) hypervisor.Interface {
	i.CIDR, i.CIDR6, i.Gateway, i.Gateway6 = "", "", "", ""
	return i
}

// Remove stages the removal of an interface. Problems: those of Edit, and
// invalid_state for an interface on which others stand, and for hardware.
func (s *Store) Remove(ctx context.Context, r Request) (StageResult, error) {
	p, n, err := s.begin(ctx, r.HostID, r.Node)
	if err != nil {
		return StageResult{}, err
	}
	was := named(n.Interfaces, r.Name)
	if was == nil {
		return StageResult{}, problem.New(problem.CodeNotFound, "the node does not have the interface %.40q", r.Name)
	}
	if was.Type == hypervisor.InterfaceNIC || was.Type == hypervisor.InterfaceOther {
		return StageResult{}, problem.New(problem.CodeInvalidState, "%s was not created here and cannot be deleted; edit its settings", r.Name)
	}
	for _, other := range n.Interfaces {
		isOurs := func(port string) bool { return port == r.Name || slices.Contains(was.AltNames, port) }
		if other.Device == r.Name || slices.ContainsFunc(other.Ports, isOurs) {
			return StageResult{}, problem.New(problem.CodeInvalidState, "%s depends on it; change that first", other.Name)
		}
	}
	if err := s.inUse(ctx, &p, n, *was, r.Confirm); err != nil {
		return StageResult{}, err
	}
	return s.stage(ctx, &p, n, StageResult{HostID: r.HostID, Node: r.Node, Interface: r.Name, Action: "delete"}, nil, was)
}

// onNode reads the NICs on the bridges of a node, as the caller may see them.
func (s *Store) onNode(ctx context.Context, p *host.NodeRef) (attachments, error) {
	visible := identity.VisibleTeams{All: true}
	if caller := identity.FromContext(ctx); caller != nil {
		visible = caller.Visible()
	}
	return s.attached(ctx, []int64{p.ClusterID}, p.Node, visible)
}

// inUse returns the problem bridge_in_use for an unconfirmed change of an
// interface in force if guests are on it or on a bridge above it, or may be:
// where a guest is whose configuration was never read is unknown.
func (s *Store) inUse(ctx context.Context, p *host.NodeRef, n hypervisor.NodeNetwork, i hypervisor.Interface, confirm *string) error {
	if named(n.Current, i.Name) == nil || confirm != nil && *confirm == i.Name {
		return nil
	}
	var bridges []string
	for _, b := range n.Current {
		if isBridge(b) && below(n.Current, map[string]bool{b.Name: true})[i.Name] {
			bridges = append(bridges, b.Name)
		}
	}
	if len(bridges) == 0 {
		return nil
	}
	all, err := s.onNode(ctx, p)
	if err != nil {
		return err
	}
	var texts []string
	var guests []Attachment
	others := 0
	for _, name := range bridges {
		seen, more := all.on(name)
		guests, others = append(guests, seen...), others+more
		if len(seen)+more == 0 {
			continue
		}
		text := guestsAre(seen, more) + " on the bridge " + name
		if name != i.Name {
			text += ", which depends on " + i.Name
		}
		texts = append(texts, text)
	}
	if all.unknown > 0 {
		texts = append(texts, fmt.Sprintf("for %s of the node, the bridges in use are not known yet",
			plan.Plural(all.unknown, "1 guest", "%d guests")))
	}
	if len(texts) == 0 {
		return nil
	}
	return problem.New(problem.CodeBridgeInUse, "%s; to stage the change anyway, send the name %s as confirm", strings.Join(texts, "; "),
		i.Name).
		With("confirm_phrase", i.Name).With("guests", append([]Attachment{}, guests...)).With("others", others).With("unknown", all.unknown)
}

// isBridge reports whether guests can be on an interface.
func isBridge(i hypervisor.Interface) bool {
	return i.Type == hypervisor.InterfaceBridge || i.Type == hypervisor.InterfaceOVS
}

// guestsAre begins a sentence about guests, each named once, and about NICs of
// guests that the caller may not see.
func guestsAre(guests []Attachment, others int) string {
	var all []string
	for _, g := range guests {
		if !slices.Contains(all, g.Name) {
			all = append(all, g.Name)
		}
	}
	verb := " is"
	if len(all)+others > 1 {
		verb = " are"
	}
	if others > 0 {
		all = append(all, plan.Plural(others, "1 NIC of a guest of another team", "%d NICs of guests of other teams"))
	}
	return strings.Join(all, ", ") + verb
}

// satisfies reports whether an interface is as wanted. Settings that the
// hypervisor adds by itself are ignored.
func satisfies(is *hypervisor.Interface, want hypervisor.Interface) bool {
	if is == nil {
		return false
	}
	now := *is
	now.Options, want.Options = nil, nil
	if want.VLANs == "" {
		now.VLANs = ""
	}
	return alike(now, want) && now.Comment == want.Comment
}

// stage sends one change. o is nil for a removal.
func (s *Store) stage(ctx context.Context, p *host.NodeRef, before hypervisor.NodeNetwork, done StageResult, o *order,
	was *hypervisor.Interface) (
	StageResult, error) {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetName = "node", p.Node
		e.Detail("interface", done.Interface)
		if o != nil {
			e.Detail("type", o.want.Type)
			e.Detail("wanted", showInterface(o.want))
		}
	})
	err := s.change(ctx, p, func(ctx context.Context, m hypervisor.NetworkManager) error {
		if o == nil {
			return m.StageRemoval(ctx, p.Node, done.Interface)
		}
		return m.StageInterface(ctx, hypervisor.InterfaceChange{Node: p.Node, Want: o.want, Was: was})
	}, func(now hypervisor.NodeNetwork) bool {
		if o == nil {
			return named(now.Interfaces, done.Interface) == nil
		}
		return satisfies(named(now.Interfaces, done.Interface), o.want)
	})
	if done.Action == "create" && sdk.KindOf(err) == sdk.Conflict {
		err = problem.New(problem.CodeConflict, "the node already has an interface %s, or one is staged", done.Interface).WithCause(err)
	}
	if err != nil {
		return StageResult{}, err
	}
	ctx = context.WithoutCancel(ctx)
	now, unread := s.read(ctx, p)
	var ports []string
	if unread == nil && o != nil {
		ports = broughtAlong(before, now, o.want)
	}
	if err := s.note(ctx, p, before.Diff == "", done, ports); err != nil {
		return StageResult{}, err
	}
	if unread == nil && now.Diff != "" {
		diff := host.CleanTo(now.Diff, maxTexts)
		done.Diff = &diff
	}
	return done, nil
}

// broughtAlong returns the ports that the hypervisor has changed together with
// an interface: those of a bond come up with the node from then on, and keep
// that when the bond is gone.
func broughtAlong(before, now hypervisor.NodeNetwork, made hypervisor.Interface) []string {
	were := changed(before)
	return slices.DeleteFunc(changed(now), func(name string) bool {
		return name == made.Name || !slices.Contains(made.Ports, name) || slices.Contains(were, name)
	})
}

// note stores who staged a change, and the changes of its ports with it. first
// reports that nothing else was staged.
func (s *Store) note(ctx context.Context, p *host.NodeRef, first bool, done StageResult, ports []string) error {
	var by *int64
	email := ""
	if caller := identity.FromContext(ctx); caller != nil && caller.UserID != 0 {
		by, email = &caller.UserID, caller.Email
	}
	err := s.DB.Tx(ctx, func(tx *db.Tx) error {
		if first {
			if _, err := tx.Pgx.Exec(ctx, "DELETE FROM network_staged WHERE cluster_id = $1 AND node = $2", p.ClusterID, p.Node); err != nil {
				return err
			}
		}
		_, err := tx.Pgx.Exec(ctx, `INSERT INTO network_staged (cluster_id, node, interface, action, user_id, email)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (cluster_id, node, interface)
			DO UPDATE SET action = EXCLUDED.action, user_id = EXCLUDED.user_id, email = EXCLUDED.email, at = now()`,
			p.ClusterID, p.Node, done.Interface, done.Action, by, email)
		if err != nil || len(ports) == 0 {
			return err
		}
		_, err = tx.Pgx.Exec(ctx, `INSERT INTO network_staged (cluster_id, node, interface, action, user_id, email)
			SELECT $1, $2, unnest($3::text[]), 'edit', $4, $5 ON CONFLICT DO NOTHING`, p.ClusterID, p.Node, ports, by, email)
		return err
	})
	if err != nil {
		return db.Problem(fmt.Errorf("recording the author of a staged change: %w", err))
	}
	return nil
}

// forget deletes the record of who staged what, when nothing is staged on a
// node any more.
func (s *Store) forget(ctx context.Context, p *host.NodeRef) error {
	_, err := s.DB.Pool.Exec(ctx, "DELETE FROM network_staged WHERE cluster_id = $1 AND node = $2", p.ClusterID, p.Node)
	if err != nil {
		return db.Problem(fmt.Errorf("deleting the authors of staged changes: %w", err))
	}
	return nil
}

// Revert drops everything that is staged on a node, and returns whose changes
// they were. Problems: those of Create.
func (s *Store) Revert(ctx context.Context, hostID int64, node string) (RevertResult, error) {
	p, n, err := s.begin(ctx, hostID, node)
	if err != nil {
		return RevertResult{}, err
	}
	done := RevertResult{HostID: hostID, Node: node, Reverted: n.Diff != "", StagedBy: []StagedChange{}, Others: []string{}}
	if done.Reverted {
		if done.StagedBy, err = s.stagedBy(ctx, &p, n); err != nil {
			return RevertResult{}, err
		}
		for _, name := range changed(n) {
			if !slices.ContainsFunc(done.StagedBy, func(b StagedChange) bool { return b.Interface == name }) {
				done.Others = append(done.Others, host.Clean(name))
			}
		}
		diff := host.CleanTo(n.Diff, maxTexts)
		done.Diff = &diff
	}
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind, e.TargetName = "node", p.Node
		e.Detail("interfaces", changed(n))
	})
	if !done.Reverted {
		return done, s.DB.Tx(ctx, func(tx *db.Tx) error { return audit.Write(ctx, tx) })
	}
	err = s.change(ctx, &p, func(ctx context.Context, m hypervisor.NetworkManager) error { return m.RevertNetwork(ctx, p.Node) },
		func(now hypervisor.NodeNetwork) bool { return now.Diff == "" })
	if err != nil {
		return RevertResult{}, err
	}
	return done, s.forget(context.WithoutCancel(ctx), &p)
}

// staged returns the interfaces with staged changes, as they will be, and the
// names of those that will be gone.
func staged(n hypervisor.NodeNetwork) (want []hypervisor.Interface, gone []string) {
	if n.Diff == "" {
		return nil, nil
	}
	for _, i := range n.Interfaces {
		if stagedOf(n, i) != nil {
			want = append(want, i)
		}
	}
	for _, i := range n.Current {
		if named(n.Interfaces, i.Name) == nil {
			gone = append(gone, i.Name)
		}
	}
	return want, gone
}

// changed returns the names of interfaces with staged changes.
func changed(n hypervisor.NodeNetwork) []string {
	want, gone := staged(n)
	names := []string{}
	for _, i := range want {
		names = append(names, i.Name)
	}
	return append(names, gone...)
}

// change sends one request about a node's network. If the answer is lost, there
// judges by the network at that time; the request is not repeated.
func (s *Store) change(ctx context.Context, p *host.NodeRef, request func(context.Context, hypervisor.NetworkManager) error,
	there func(now hypervisor.NodeNetwork) bool) error {
	tell := func(err error, _ *audit.Entry) *problem.Error {
		return problem.From(inConfig(host.UnknownNode(plugin.Problem(err))))
	}
	return change.Change{DB: s.DB, Exclusive: p.Exclusive(), Limit: changeLimit, Problem: tell}.Do(ctx, func(ctx context.Context) error {
		left := false
		_, err := host.CallWithTimeout(ctx, s.Hosts, sendLimit, p.HostID, endpoint.Lifecycle,
			func(ctx context.Context, m hypervisor.NetworkManager) (struct{}, error) {
				left = true
				return struct{}{}, request(ctx, m)
			})
		if err == nil || !left || job.Refused(err) {
			return err
		}
		now, unread := s.read(ctx, p)
		return change.ResolveLost(err, "the node's network", unread == nil && there(now), unread)
	})
}

// inConfig turns the hypervisor's error about a setting into a fault of the
// request.
func inConfig(err error) error {
	known := problem.From(err)
	if known.Code != problem.CodeInvalid {
		return err
	}
	faults := slices.Clone(known.Faults)
	for i, f := range faults {
		if len(f.Loc) == 2 && f.Loc[0] == "body" && f.Loc[1] != "type" {
			faults[i].Loc = []any{"body", "config", f.Loc[1]}
			if f.Loc[1] == "name" {
				faults[i].Loc = []any{"body", "iface"}
			}
		}
	}
	return problem.Invalid(faults...).WithCause(err)
}
