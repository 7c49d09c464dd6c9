package firewall

import "context"

// Options are the options of a scope's firewall. What is nil or empty is not set: the backend's own default holds.
type Options struct {
	// Digest names this state of the options; empty where the backend has none.
	Digest string
	// Enable switches the scope's firewall on. Without it at the cluster's, most backends do nothing at all.
	Enable *bool
	// DHCP, NDP and RADV let a guest ask for addresses, find neighbours of IPv6, and announce itself as a router.
	DHCP, NDP, RADV *bool
	// MACFilter and IPFilter let nothing out of a guest that has another source than the guest's own.
	MACFilter, IPFilter *bool
	// PolicyIn, PolicyOut and PolicyForward are what becomes of that for which there is no rule: one of Policies.
	PolicyIn, PolicyOut, PolicyForward string
	// LogLevelIn, LogLevelOut and LogLevelForward are at which level it is logged, in the backend's words.
	LogLevelIn, LogLevelOut, LogLevelForward string
	// Other are the backend's further options, by their names there. One of the names above is none of them.
	Other map[string]string
}

// Policies are the values of PolicyIn, PolicyOut and PolicyForward. A backend may take fewer of them for one.
func Policies() []string { return []string{"ACCEPT", "REJECT", "DROP"} }

// The names of options, as a change and the Field of an Invalid error have them.
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

// Flag is where the value of one of the options goes that is on or off; nil for other names.
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

// Text is where the value of one of the well-known options goes that is a text; nil for other names.
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

// OptionFlags are the names of the options that are on or off, and OptionTexts those of the well-known ones that are a text.
func OptionFlags() []string {
	return []string{OptionEnable, OptionDHCP, OptionNDP, OptionRADV, OptionMACFilter, OptionIPFilter}
}

// OptionTexts are the names of the well-known options that are a text, the policies first.
func OptionTexts() []string {
	return []string{OptionPolicyIn, OptionPolicyOut, OptionPolicyForward, OptionLogLevelIn, OptionLogLevelOut, OptionLogLevelForward}
}

// OptionsChange is a change of the options of a scope's firewall.
type OptionsChange struct {
	// Set has the new values; what is nil or empty there stays. Where it has a Digest that is another by now, the change is Conflict
	// with the field "digest".
	Set Options
	// Clear names options that are not to be set any more, of Other too.
	Clear []string
}

// Optioner is satisfied by firewalls that have options. Options needs the Monitoring capability, ChangeOptions the Lifecycle one.
// Scopes are as of RuleLister; a backend may have options for guests that do not exist.
type Optioner interface {
	// Options reads those of a scope. An id that no guest can have is NotFound or Invalid.
	Options(ctx context.Context, scope Scope) (Options, error)
	// ChangeOptions changes all that is given in one request, sent once. What does not do, or is no option of that scope, is Invalid with
	// the option's name as its field, and nothing was changed then.
	ChangeOptions(ctx context.Context, scope Scope, change OptionsChange) error
}
