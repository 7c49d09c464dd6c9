package firewall

import "context"

// Options are the firewall options of a scope. A nil or empty field is not set, and
// the backend's default applies.
type Options struct {
	// Digest identifies this state of the options. It is empty if the backend has
	// none.
	Digest string
	// Enable switches the firewall of the scope on. Most backends do nothing at all
	// unless it is on at the cluster.
	Enable *bool
	// DHCP, NDP and RADV allow a guest to request addresses, to find IPv6
	// neighbours, and to announce itself as a router.
	DHCP, NDP, RADV *bool
	// MACFilter and IPFilter drop packets of a guest whose source address is not
	// one of the guest.
	MACFilter, IPFilter *bool
	// PolicyIn, PolicyOut and PolicyForward decide about packets that no rule
	// matches. They are one of Policies.
	PolicyIn, PolicyOut, PolicyForward string
	// LogLevelIn, LogLevelOut and LogLevelForward are the levels at which such
	// packets are logged, in the backend's words.
	LogLevelIn, LogLevelOut, LogLevelForward string
	// Other are further options by the backend's names. It never contains one of
	// the names above.
	Other map[string]string
}

// Policies returns the values of the policies. A backend may accept fewer for some
// of them.
func Policies() []string { return []string{"ACCEPT", "REJECT", "DROP"} }

// The names of options, for OptionsChange.Clear and for the Field of an Invalid
// error.
const (
	OptionEnable          = "enable"
	OptionDHCP            = "dhcp"
	OptionNDP             = "ndp"
	OptionRADV            = "radv"
	OptionMACFilter       = "macfilter"
	OptionIPFilter        = "ipfilter"
	OptionPolicyIn        = "policy_in"
	OptionPolicyOut       = "policy_out"
	OptionPolicyForward   = "policy_forward"
	OptionLogLevelIn      = "log_level_in"
	OptionLogLevelOut     = "log_level_out"
	OptionLogLevelForward = "log_level_forward"
)

// Flag returns a pointer to the field of a boolean option, or nil for another name.
func (o *Options) Flag(name string) **bool {
	switch name {
	case OptionEnable:
		return &o.Enable
	case OptionDHCP:
		return &o.DHCP
	case OptionNDP:
		return &o.NDP
	case OptionRADV:
		return &o.RADV
	case OptionMACFilter:
		return &o.MACFilter
	case OptionIPFilter:
		return &o.IPFilter
	}
	return nil
}

// Text returns a pointer to the field of a text option, or nil for another name.
func (o *Options) Text(name string) *string {
	switch name {
	case OptionPolicyIn:
		return &o.PolicyIn
	case OptionPolicyOut:
		return &o.PolicyOut
	case OptionPolicyForward:
		return &o.PolicyForward
	case OptionLogLevelIn:
		return &o.LogLevelIn
	case OptionLogLevelOut:
		return &o.LogLevelOut
	case OptionLogLevelForward:
		return &o.LogLevelForward
	}
	return nil
}

// OptionFlags returns the names of the boolean options.
func OptionFlags() []string {
	return []string{OptionEnable, OptionDHCP, OptionNDP, OptionRADV, OptionMACFilter, OptionIPFilter}
}

// OptionTexts returns the names of the text options, policies first. It does not
// contain those of Options.Other.
func OptionTexts() []string {
	return []string{OptionPolicyIn, OptionPolicyOut, OptionPolicyForward, OptionLogLevelIn, OptionLogLevelOut, OptionLogLevelForward}
}

// OptionsChange is a change of the options of a scope.
type OptionsChange struct {
	// Set contains the new values. A nil or empty field keeps the present value. An
	// outdated Digest in it is Conflict with the field "digest".
	Set Options
	// Clear names options to unset, including those in Other.
	Clear []string
}

// OptionsManager is implemented by firewalls that have options. Options needs the
// Monitoring capability, ChangeOptions needs Lifecycle. Scopes are treated as by
// RuleLister. A backend may have options for guests that do not exist.
type OptionsManager interface {
	// Options reads the options of a scope. An ID that no guest can have is
	// NotFound or Invalid.
	Options(ctx context.Context, scope Scope) (Options, error)
	// ChangeOptions applies the whole change in one request, sent once. A wrong
	// value, or an option that the scope does not have, is Invalid with the name of
	// the option as field, and nothing is changed.
	ChangeOptions(ctx context.Context, scope Scope, change OptionsChange) error
}
