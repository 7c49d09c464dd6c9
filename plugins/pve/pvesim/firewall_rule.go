package pvesim

// FirewallRule is one rule of a firewall configuration. Members that are empty set no condition.
type FirewallRule struct {
	Type      string // in, out, forward or group
	Action    string // ACCEPT, DROP or REJECT; the name of a security group where Type is group
	Enable    bool
	Macro     string
	Interface string
	Source    string // addresses, an alias, or +NAME of an IP set
	Dest      string
	Proto     string
	Sport     string
	Dport     string
	ICMPType  string
	Log       string
	Comment   string

	family int // 4, 6, or 0 when nothing says
}

// ruleFields are the members of a rule that are text, by their names in the API. All but Type and Action can be deleted.
var ruleFields = map[string]func(*FirewallRule) *string{
	"type":      func(r *FirewallRule) *string { return &r.Type },
	"action":    func(r *FirewallRule) *string { return &r.Action },
	"macro":     func(r *FirewallRule) *string { return &r.Macro },
	"iface":     func(r *FirewallRule) *string { return &r.Interface },
	"source":    func(r *FirewallRule) *string { return &r.Source },
	"dest":      func(r *FirewallRule) *string { return &r.Dest },
	"proto":     func(r *FirewallRule) *string { return &r.Proto },
	"sport":     func(r *FirewallRule) *string { return &r.Sport },
	"dport":     func(r *FirewallRule) *string { return &r.Dport },
	"icmp-type": func(r *FirewallRule) *string { return &r.ICMPType },
	"log":       func(r *FirewallRule) *string { return &r.Log },
	"comment":   func(r *FirewallRule) *string { return &r.Comment },
}

// row is a rule as answers show it, without position and digest.
func (r *FirewallRule) row() map[string]any {
	row := map[string]any{"enable": oneOrZero(r.Enable)}
	for name, field := range ruleFields {
		if v := *field(r); v != "" {
			row[name] = v
		}
	}
	if r.family != 0 {
		row["ipversion"] = r.family
	}
	return row
}
