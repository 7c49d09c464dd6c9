package acl

import (
	"cmp"
	"slices"

	"github.com/hostler/hostler/sdk/firewall"
)

// list and row are the server's form of a list and a rule.
type list struct {
	Rules []row `json:"rules"`
}

type row struct {
	Direction   string `json:"direction"`
	Action      string `json:"action"`
	Enabled     bool   `json:"enabled"`
	Protocol    string `json:"protocol"`
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Port        string `json:"port"`
	Comment     string `json:"comment"`
}

// fieldOf are the SDK's names of the fields that the server may refuse.
var fieldOf = map[string]string{
	"direction": firewall.FieldDirection, "action": firewall.FieldAction, "protocol": firewall.FieldProtocol, "source": firewall.FieldSource,
	"destination": firewall.FieldDestination, "port": firewall.FieldDestinationPort,
}

// rowOf brings a rule into the server's form. What the server does not have is refused, and not left out: a rule that says less than
// it was asked to say lets more through.
func rowOf(r firewall.Rule) (row, error) {
	if err := firewall.CheckRule(r); err != nil {
		return row{}, err
	}
	for field, text := range map[string]string{
		firewall.FieldMacro: r.Macro, firewall.FieldSourcePort: r.SourcePort, firewall.FieldInterface: r.Interface, firewall.FieldLog: r.Log,
		firewall.FieldICMPType: r.ICMPType,
	} {
		if text != "" {
			return row{}, firewall.Invalid(field, "rules of access lists do not have this field")
		}
	}
	return row{
		Direction: r.Direction, Action: r.Action, Enabled: r.Enabled, Protocol: r.Protocol, Source: r.Source, Destination: r.Destination,
		Port: r.DestinationPort, Comment: r.Comment,
	}, nil
}

func ruleOf(position int, r row) firewall.Rule {
	return firewall.Rule{
		Position: position, Direction: r.Direction, Action: r.Action, Enabled: r.Enabled, Protocol: r.Protocol, Source: r.Source,
		Destination: r.Destination, DestinationPort: r.Port, Comment: r.Comment,
	}
}

// order puts the rows into an order that is always the same: the server keeps them in any.
func order(rows []row) {
	slices.SortFunc(rows, func(a, b row) int {
		enabled := map[bool]int{true: 0, false: 1}
		return cmp.Or(cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Protocol, b.Protocol),
			cmp.Compare(a.Port, b.Port), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination),
			cmp.Compare(a.Comment, b.Comment), cmp.Compare(enabled[a.Enabled], enabled[b.Enabled]))
	})
}
