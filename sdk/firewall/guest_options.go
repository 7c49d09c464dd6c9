package firewall

import "context"

// GuestOptions are the options of a guest's firewall. What is nil or empty is not set: the backend's own default holds.
type GuestOptions struct {
	// Digest names this state of the options; empty where the backend has none.
	Digest string
	// Enable switches the guest's rules on.
	Enable *bool
	// DHCP, NDP and RADV let the guest ask for addresses, find neighbours of IPv6, and announce itself as a router.
	DHCP, NDP, RADV *bool
	// MACFilter and IPFilter let nothing out that has another source than the guest's own.
	MACFilter, IPFilter *bool
	// PolicyIn and PolicyOut are what becomes of that for which there is no rule: one of Policies.
	PolicyIn, PolicyOut string
}

// Policies are the values of PolicyIn and PolicyOut.
func Policies() []string { return []string{"ACCEPT", "REJECT", "DROP"} }

// The options of a guest that a change can name.
const (
	OptionEnable    = "enable"
	OptionDHCP      = "dhcp"
	OptionNDP       = "ndp"
	OptionRADV      = "radv"
	OptionMACFilter = "macfilter"
	OptionIPFilter  = "ipfilter"
	OptionPolicyIn  = "policy_in"
	OptionPolicyOut = "policy_out"
)

// GuestOptionsChange is a change of the options of a guest's firewall.
type GuestOptionsChange struct {
	// Set has the new values; what is nil or empty there stays. Where it has a Digest that is another by now, the change is Conflict
	// with the field "digest".
	Set GuestOptions
	// Clear names options that are not to be set any more.
	Clear []string
}

// GuestOptioner is satisfied by firewalls whose guests have options. GuestOptions needs the Monitoring capability, all else the
// Lifecycle one. A backend may have options for guests that do not exist.
type GuestOptioner interface {
	// GuestOptions reads them. An id that no guest can have is NotFound or Invalid.
	GuestOptions(ctx context.Context, guest Guest) (GuestOptions, error)
	// ChangeGuestOptions changes all that is given in one request, sent once. What does not do is Invalid with the option as its
	// field.
	ChangeGuestOptions(ctx context.Context, guest Guest, change GuestOptionsChange) error
}
