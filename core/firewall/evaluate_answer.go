package firewall

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hostler/hostler/core/host"
	sdk "github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// TestResult is the judgement of a packet, as the API shows it.
type TestResult struct {
	Verdict string    `json:"verdict" enum:"accept,drop,reject,unknown" example:"drop" doc:"reject: dropped, and the sender is notified; unknown: the firewall cannot be read or evaluated"`
	Summary string    `json:"summary" example:"drop by rule 1 of guest db-1: in DROP proto tcp dport 5432" doc:"The verdict as a sentence"`
	Reason  *string   `json:"reason" example:"cannot read node pve2: it does not respond" doc:"Why the verdict is unknown; null otherwise"`
	From    EndView   `json:"from" doc:"Source, as resolved"`
	To      EndView   `json:"to" doc:"Destination, as resolved"`
	By      *Step     `json:"by" doc:"Step that decided the verdict; null if the verdict is unknown"`
	Path    []Hop     `json:"path" doc:"Firewalls on the path, in order. It ends with the first one that does not accept"`
	At      string    `json:"at" example:"current" doc:"current, or the draft that was tested"`
	AsOf    time.Time `json:"as_of" doc:"When the service started to read the firewall of the hypervisor"`
}

// EndView is an end as it was chosen.
type EndView struct {
	Kind      string  `json:"kind" enum:"guest,node,address,outside" example:"guest"`
	GuestID   *int64  `json:"guest_id" example:"12" doc:"ID of the guest; for a VM, this is the ID of the VM"`
	AppID     *int64  `json:"app_id" example:"4" doc:"ID of the app, if the request named an app"`
	Name      *string `json:"name" example:"db-1" doc:"Name of the guest"`
	NIC       *string `json:"nic" example:"net0"`
	Node      *string `json:"node" example:"pve1" doc:"The node itself, or the node whose firewall the packet passes"`
	Address   *string `json:"address" example:"192.0.2.10" doc:"Address of the packet; null if it is not known and does not matter"`
	Interface *string `json:"iface" example:"vmbr0" doc:"Interface of the node that the packet passes, if known"`
}

// Hop is one firewall on the path.
type Hop struct {
	Scope     ScopeView `json:"scope"`
	NIC       *string   `json:"nic" example:"net0"`
	Direction string    `json:"direction" enum:"in,out,forward" example:"in" doc:"Direction as seen from the scope"`
	Verdict   string    `json:"verdict" enum:"accept,drop,reject,unknown" example:"drop"`
	By        Step      `json:"by"`
	Steps     []Step    `json:"steps" doc:"Checks and rules that the packet passed, in order; the last one decided"`
	Omitted   int       `json:"omitted" example:"0" doc:"Number of omitted steps before the listed ones"`
}

// ScopeView is the scope of rules.
type ScopeView struct {
	Kind    string  `json:"kind" enum:"cluster,node,guest,group" example:"guest"`
	GuestID *int64  `json:"guest_id" example:"12"`
	AppID   *int64  `json:"app_id" example:"4"`
	Name    *string `json:"name" example:"db-1" doc:"Name of the guest, the node or the group"`
}

// Step is a rule, or a check of the hypervisor, that a packet met.
type Step struct {
	Scope *ScopeView `json:"scope" doc:"Scope of the rule; null for a check"`
	Rule  *Rule      `json:"rule" doc:"The rule; null for a check"`
	Check *string    `json:"check" example:"policy" doc:"Built-in check of the hypervisor: a policy, a filter, or a disabled firewall"`
	Part  *int       `json:"part" example:"1" doc:"Part of the rule's macro, from 1"`
	Via   *Via       `json:"via" doc:"Rule that includes the security group of this rule"`
	Why   string     `json:"why" enum:"matched,disabled,direction,interface,family,protocol,icmp_type,source,dest,source_nomatch,dest_nomatch,sport,dport,invalid,not_in_force,group_missing,group_passed,not_met" example:"dport" doc:"Why it matched or did not match"`
	Text  string     `json:"text" example:"in ACCEPT proto tcp dport 22" doc:"The step as text"`
}

// Via names a rule by its position.
type Via struct {
	Scope    ScopeView `json:"scope"`
	Position int       `json:"pos" example:"0"`
}

// ReachResult is a table of reach, as the API shows it.
type ReachResult struct {
	To      EndView    `json:"to"`
	Rows    []ReachRow `json:"rows" doc:"One row for each sender: the outside first, then guests by VMID"`
	Omitted int        `json:"omitted" example:"0" doc:"Number of omitted guests"`
	At      string     `json:"at" example:"current"`
	AsOf    time.Time  `json:"as_of"`
}

// ReachRow is one sender of the table.
type ReachRow struct {
	From    EndView `json:"from"`
	Open    []Ports `json:"open" doc:"Ports that the sender can reach, whether or not a program listens on them"`
	Ping    bool    `json:"ping" doc:"true if an ICMP echo request is accepted"`
	Unknown *string `json:"unknown" example:"cannot read guest 105: it does not exist" doc:"Why the result for this sender is unknown; null otherwise"`
}

// Ports are ports of a protocol, both ends included.
type Ports struct {
	Protocol string `json:"proto" example:"tcp"`
	First    int    `json:"first" minimum:"0" maximum:"65535" example:"22"`
	Last     int    `json:"last" minimum:"0" maximum:"65535" example:"22"`
}

// showVerdict checks and converts the backend's verdict. A value that the
// contract does not allow is an error.
func (q *question) showVerdict(v *sdk.Verdict) (*TestResult, error) {
	shown := &TestResult{Verdict: string(v.Outcome), From: q.showEnd(v.From), To: q.showEnd(v.To), Path: make([]Hop, len(v.Hops))}
	if !slices.Contains(sdk.Outcomes(), v.Outcome) {
		return shown, plugin.Errorf(plugin.Protocol, "the backend returned the unknown verdict %.40q", host.Clean(string(v.Outcome)))
	}
	if v.Outcome == sdk.Unknown {
		reason := host.Clean(v.Reason)
		shown.Reason, shown.Summary = &reason, "unknown: "+reason
	}
	for i := range v.Hops {
		hop, err := q.showHop(&v.Hops[i])
		if err != nil {
			return shown, err
		}
		shown.Path[i] = hop
	}
	if by := v.By(); by != nil {
		step := shown.Path[len(shown.Path)-1].By
		shown.By, shown.Summary = &step, shown.Verdict+" by "+step.named()
	} else if shown.Summary == "" {
		shown.Summary = shown.Verdict + ": nothing checks packets on this path"
	}
	return shown, nil
}

// named describes a step for people.
func (s *Step) named() string {
	if s.Rule == nil {
		return "the hypervisor's check " + *s.Check + ": " + s.Text
	}
	whose := s.Scope.Kind
	if s.Scope.Name != nil {
		whose += " " + *s.Scope.Name
	}
	return fmt.Sprintf("rule %d of %s: %s", s.Rule.Position, whose, s.Text)
}

// showHop converts a hop, or returns Protocol for a plugin's answer that makes
// no sense.
func (q *question) showHop(h *sdk.Hop) (Hop, error) {
	shown := Hop{Scope: q.showScope(h.Scope), NIC: host.CleanOrNil(h.NIC), Direction: h.Direction, Verdict: string(h.Outcome),
		Omitted: max(h.Omitted, 0), Steps: []Step{}}
	directions := []string{sdk.DirectionIn, sdk.DirectionOut, sdk.DirectionForward}
	if !slices.Contains(directions, h.Direction) || !slices.Contains(sdk.Outcomes(), h.Outcome) {
		return shown, plugin.Errorf(plugin.Protocol, "the backend returned an unknown hop")
	}
	for _, s := range append(h.Steps, h.By) {
		if !slices.Contains(sdk.Reasons(), s.Why) || s.Rule != nil && !slices.Contains(sdk.Directions(), s.Rule.Rule.Direction) {
			return shown, plugin.Errorf(plugin.Protocol, "the backend returned the unknown reason %.40q", host.Clean(string(s.Why)))
		}
		shown.Steps = append(shown.Steps, q.showStep(&s))
	}
	last := len(shown.Steps) - 1
	shown.By, shown.Steps = shown.Steps[last], shown.Steps[:last]
	return shown, nil
}

// showStep converts a step.
func (q *question) showStep(s *sdk.Step) Step {
	shown := Step{Why: string(s.Why), Text: host.Clean(s.Text)}
	if s.Part > 0 {
		shown.Part = &s.Part
	}
	if s.Via != nil {
		shown.Via = &Via{Scope: q.showScope(s.Via.Scope), Position: s.Via.Rule.Position}
	}
	if s.Rule == nil {
		check := host.Clean(s.Check)
		shown.Check = &check
		return shown
	}
	rule, scope := showRule(&s.Rule.Rule, nil), q.showScope(s.Rule.Scope)
	shown.Rule, shown.Scope = &rule, &scope
	if text := ruleText(&rule); shown.Text == "" {
		shown.Text = text
	} else {
		shown.Text = text + ": " + shown.Text
	}
	return shown
}

// ruleText returns a rule on one line.
func ruleText(r *Rule) string {
	parts := []string{r.Direction, r.Action}
	for _, field := range []struct {
		name string
		text *string
	}{{"macro", r.Macro}, {"iface", r.Interface}, {"proto", r.Protocol}, {"source", r.Source}, {"dest", r.Destination},
		{"sport", r.SourcePort}, {"dport", r.DestinationPort}, {"icmp_type", r.ICMPType}} {
		if field.text != nil {
			parts = append(parts, field.name, *field.text)
		}
	}
	return strings.Join(parts, " ")
}

// showScope converts a scope. Guests get their IDs of this service.
func (q *question) showScope(s sdk.Scope) ScopeView {
	shown := ScopeView{Kind: string(s.Kind)}
	switch {
	case s.Guest != nil:
		if e := q.named[guestKey(s.Guest)]; e != nil {
			shown.GuestID, shown.AppID, shown.Name = &e.Guest.ID, e.AppID, &e.Guest.Name
		}
	case s.Kind == sdk.NodeScope:
		shown.Name = host.CleanOrNil(s.Node)
	case s.Kind == sdk.GroupScope:
		shown.Name = host.CleanOrNil(s.Group)
	}
	if !slices.Contains(sdk.ScopeKinds(), s.Kind) {
		shown.Kind = string(sdk.ClusterScope)
	}
	return shown
}

// showEnd converts an end.
func (q *question) showEnd(e sdk.End) EndView {
	shown := EndView{Kind: string(e.Kind), NIC: host.CleanOrNil(e.NIC), Node: host.CleanOrNil(e.Node), Address: host.CleanOrNil(e.Address),
		Interface: host.CleanOrNil(e.Interface)}
	if e.Guest != nil {
		if of := q.named[guestKey(e.Guest)]; of != nil {
			shown.GuestID, shown.AppID, shown.Name = &of.Guest.ID, of.AppID, &of.Guest.Name
		}
	}
	if !slices.Contains([]sdk.EndKind{sdk.GuestEnd, sdk.NodeEnd, sdk.AddressEnd}, e.Kind) {
		shown.Kind = string(sdk.OutsideEnd)
	}
	return shown
}

// showReach converts the answer about reach.
func (q *question) showReach(r sdk.Reach) *ReachResult {
	shown := &ReachResult{To: q.showEnd(r.To), Rows: make([]ReachRow, len(r.Rows)), AsOf: r.At.UTC().Truncate(time.Millisecond)}
	for i, row := range r.Rows {
		shown.Rows[i] = ReachRow{From: q.showEnd(row.From), Open: []Ports{}, Ping: row.Echo, Unknown: host.CleanOrNil(row.Unknown)}
		for _, p := range row.Open {
			shown.Rows[i].Open = append(shown.Rows[i].Open, Ports{host.Clean(p.Protocol), p.First, p.Last})
		}
	}
	return shown
}
