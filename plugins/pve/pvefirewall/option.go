package pvefirewall

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Switch is an option that is on, off, or not set.
type Switch int8

// The values of a Switch. Unset means the default of the option.
const (
	Unset Switch = iota
	Off
	On
)

// or returns the switch, or the default if it is unset.
func (s Switch) or(otherwise bool) bool {
	if s == Unset {
		return otherwise
	}
	return s == On
}

// ClusterOptions are the options of the cluster that decide about packets.
type ClusterOptions struct {
	// Enable is 0 for off and 1 for on; more is the second since 1970 until a
	// minute after which the firewall is on.
	Enable int64
	// PolicyIn and PolicyOut are the policies of nodes. Unset are Drop and Accept.
	PolicyIn, PolicyOut Verdict
}

// NodeOptions are the options of a node that decide about packets.
type NodeOptions struct {
	Enable   Switch // on unless Off
	NDP      Switch // on unless Off
	NoSmurfs Switch // on unless Off
	TCPFlags Switch
	// AllowInvalid is nf_conntrack_allow_invalid. It is about guests only.
	AllowInvalid Switch
	// NFTables On means that another program makes the rules. It is not judged here.
	NFTables Switch
}

// GuestOptions are the options of a guest that decide about packets.
type GuestOptions struct {
	Enable    Switch
	DHCP      Switch // on unless Off, whatever the schema says
	NDP       Switch // on unless Off
	RADV      Switch
	MACFilter Switch // on unless Off
	IPFilter  Switch
	// IPS hands accepted packets to a program, which may still drop them. They
	// are judged as accepted.
	IPS Switch
	// PolicyIn and PolicyOut are Drop and Accept when they are not set.
	PolicyIn, PolicyOut Verdict
}

var (
	clusterIgnored = []string{"ebtables", "policy_forward", "log_ratelimit"}
	nodeIgnored    = []string{"log_nf_conntrack", "protection_synflood", "log_level_in", "log_level_out", "log_level_forward",
		"tcp_flags_log_level", "smurf_log_level", "nf_conntrack_helpers", "nf_conntrack_max", "nf_conntrack_tcp_timeout_established",
		"nf_conntrack_tcp_timeout_syn_recv", "protection_synflood_rate", "protection_synflood_burst", "protection_limit"}
	guestIgnored = []string{"log_level_in", "log_level_out", "ips_queues", "layer2_protocols"}
)

// Set sets one option by its name and value, as in the API or a .fw file.
// Options without an effect on verdicts are accepted and ignored. An option or
// a value that Proxmox VE does not accept is a TextError and changes nothing.
func (o *ClusterOptions) Set(key, value string) error {
	switch key = strings.ToLower(key); key {
	case "enable":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return &TextError{What: "value of the option enable", Text: value}
		}
		o.Enable = n
		return nil
	case "policy_in":
		return setPolicy(&o.PolicyIn, key, value)
	case "policy_out":
		return setPolicy(&o.PolicyOut, key, value)
	}
	return ignored(clusterIgnored, key)
}

// Set is as that of ClusterOptions.
func (o *NodeOptions) Set(key, value string) error {
	switch key = strings.ToLower(key); key {
	case "enable":
		return setSwitch(&o.Enable, key, value)
	case "ndp":
		return setSwitch(&o.NDP, key, value)
	case "nosmurfs":
		return setSwitch(&o.NoSmurfs, key, value)
	case "tcpflags":
		return setSwitch(&o.TCPFlags, key, value)
	case "nf_conntrack_allow_invalid":
		return setSwitch(&o.AllowInvalid, key, value)
	case "nftables":
		return setSwitch(&o.NFTables, key, value)
	}
	return ignored(nodeIgnored, key)
}

// Set is as that of ClusterOptions.
func (o *GuestOptions) Set(key, value string) error {
	switch key = strings.ToLower(key); key {
	case "enable":
		return setSwitch(&o.Enable, key, value)
	case "dhcp":
		return setSwitch(&o.DHCP, key, value)
	case "ndp":
		return setSwitch(&o.NDP, key, value)
	case "radv":
		return setSwitch(&o.RADV, key, value)
	case "macfilter":
		return setSwitch(&o.MACFilter, key, value)
	case "ipfilter":
		return setSwitch(&o.IPFilter, key, value)
	case "ips":
		return setSwitch(&o.IPS, key, value)
	case "policy_in":
		return setPolicy(&o.PolicyIn, key, value)
	case "policy_out":
		return setPolicy(&o.PolicyOut, key, value)
	}
	return ignored(guestIgnored, key)
}

// setSwitch reads an option that is on or off.
func setSwitch(to *Switch, key, value string) error {
	switch value {
	case "0":
		*to = Off
	case "1":
		*to = On
	default:
		return &TextError{What: "value of the option " + key, Text: value}
	}
	return nil
}

// setPolicy reads an option with a verdict.
func setPolicy(to *Verdict, key, value string) error {
	v := verdictOf(strings.ToUpper(value))
	if v == 0 {
		return &TextError{What: "value of the option " + key, Text: value}
	}
	*to = v
	return nil
}

// ignored accepts options that have no effect on verdicts, and refuses unknown
// ones.
func ignored(known []string, key string) error {
	if slices.Contains(known, key) {
		return nil
	}
	return &TextError{What: "option", Text: key}
}

// on reports whether the cluster's firewall is on at that time.
func (o ClusterOptions) on(now time.Time) bool {
	if o.Enable > 1 && !now.IsZero() && now.Unix()-o.Enable > 60 {
		return false
	}
	return o.Enable > 0
}

// or returns the verdict, or the default if it is unset.
func (v Verdict) or(otherwise Verdict) Verdict {
	if v == 0 {
		return otherwise
	}
	return v
}
