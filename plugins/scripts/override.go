package scripts

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
)

// override is one setting that a user may change for an install. Everything
// that is not listed is refused, because the scripts also take variables that
// name files to run.
type override struct {
	option catalog.Option
	// variable is what the scripts call it, and on and off are what they take for a Switch.
	variable, on, off string
	// form is what the value must be besides its type. The scripts put values
	// into the arguments of programs without quotes.
	form func(string) bool
}

// matches returns a function that reports whether a whole text matches the
// regular expression.
func matches(expression string) func(string) bool {
	return regexp.MustCompile(`^(?:` + expression + `)$`).MatchString
}

var (
	tagForm     = regexp.MustCompile(`^[a-z0-9_][a-z0-9_.+-]{0,99}$`)
	nameForm    = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)
	storageForm = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9._-]{0,99}$`)
	bridgeForm  = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9._-]{0,29}$`)
	idForm      = regexp.MustCompile(`^[1-9][0-9]{2,8}$`)
)

// isAddress reports whether s is an IP address without a zone. A zone such as
// "%eth0" would reach the scripts as arbitrary text.
func isAddress(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Zone() == ""
}

// isNetwork reports whether s is "dhcp" or an IP address with a prefix length.
func isNetwork(s string) bool {
	p, err := netip.ParsePrefix(s)
	return s == "dhcp" || err == nil && p.IsValid()
}

var (
	isDomain = matches(`[a-zA-Z0-9](?:[a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?`)
	isProxy  = matches(`https?://[a-zA-Z0-9.\[\]:-]+(?::[0-9]{1,5})?/?`)
	isHosts  = matches(`[a-zA-Z0-9*][a-zA-Z0-9.*:/_,-]{0,299}`)
	isZone   = matches(`[A-Za-z]{1,20}(?:/[A-Za-z0-9_+-]{1,40}){0,2}`)
	isMAC    = matches(`(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}`)
	isKey    = matches(`(?:ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) ` +
		`[A-Za-z0-9+/]{16,900}={0,3}(?: [A-Za-z0-9@._-]{1,100})?`)
	isToken = matches(`[A-Za-z0-9_]{20,255}`)
	isVnet  = matches(`[a-zA-Z][a-zA-Z0-9]{0,7}`)
)

// whole returns an integer option with a minimum and a maximum.
func whole(key, description string, least, most int64) override {
	return override{variable: "var_" + key, option: catalog.Option{
		Key: key, Type: catalog.Integer, Min: least, Max: most, Default: "the script's value", Description: description,
	}}
}

// choice returns a boolean option; on and off are the words that the scripts
// use for true and false. They are not the same for all variables: some take
// yes and no, others 1 and 0.
func choice(key, on, off, description string) override {
	return override{variable: "var_" + key, on: on, off: off, option: catalog.Option{
		Key: key, Type: catalog.Boolean, Default: "the script's value", Description: description,
	}}
}

// word returns an option for one line of text, which form checks. otherwise is
// the default as it is shown to the user.
func word(key, otherwise, description string, form func(string) bool) override {
	return override{variable: "var_" + key, form: form, option: catalog.Option{
		Key: key, Type: catalog.Line, Default: otherwise, Description: description,
	}}
}

// allOverrides are the settings of an install. The password of root is
// deliberately missing: the scripts pass it on as an argument of a program, and
// every user of the node can read arguments.
var allOverrides = []override{
	whole("cpu", "The number of cores.", 1, 512), whole("ram", "The memory in MiB.", 64, 4<<20),
	whole("disk", "The size of the root disk in GiB.", 1, 64<<10),
	word("net", "dhcp", `The IPv4 address with its prefix length, or "dhcp".`, isNetwork),
	word("gateway", "none", "The IPv4 gateway.", isAddress), word("ns", "the node's", "The name server.", isAddress),
	word("searchdomain", "the node's", "The DNS search domain.", isDomain),
	whole("vlan", "The VLAN tag.", 1, 4094), whole("mtu", "The MTU of the interface.", 576, 65535),
	word("mac", "made", "The MAC address.", isMAC), word("sdn_vnet", "none", "The virtual network (SDN) of the cluster, instead of the "+
		"bridge.", isVnet),
	{variable: "var_ipv6_method", option: catalog.Option{Key: "ipv6_method", Type: catalog.Choice, Values: []string{"auto", "dhcp", "none",
		"disable"},
		Default: "none", Description: "How the container gets an IPv6 address."}},
	choice("gpu", "yes", "no", "Whether the node's graphics devices are passed through."),
	choice("tun", "yes", "no", "Whether it may create network tunnels."), choice("fuse", "yes", "no",
		"Whether it may mount FUSE file systems."),
	choice("nesting", "1", "0", "Whether containers may run inside it."), choice("keyctl", "1", "0",
		"Whether it may use the kernel's keyring."),
	choice("mknod", "1", "0", "Whether it may create device files."),
	choice("protection", "yes", "no", "Whether it is protected against deletion."),
	word("timezone", "the node's", `The time zone, such as "Europe/Berlin".`, isZone),
	choice("verbose", "yes", "no", "Whether the transcript contains the full output of all programs."),
	choice("ssh", "yes", "no", "Whether root may log in over SSH."), word("ssh_authorized_key", "none", "The SSH public key "+
		"for root.", isKey),
	word("http_proxy", "none", "The HTTP proxy for programs in the container, without a password.", isProxy),
	word("http_no_proxy", "none", "Hosts to reach without the proxy.", isHosts),
	choice("apt_cacher", "yes", "no", "Whether packages are downloaded through "+
		"a cache."), word("apt_cacher_ip", "none", "The address of the "+
		"package cache.",
		isDomain),
	choice("inherit_host_ca", "yes", "no", "Whether it trusts the additional certificate authorities of the node."),
	{variable: "GITHUB_TOKEN", form: isToken, option: catalog.Option{Key: "github_token", Type: catalog.Line, Secret: true, Default: "none",
		Description: "A GitHub token without any permissions, which raises GitHub's request limit. Programs in the container can read " +
			"it."}},
}

// overrides lists the options that every script has.
func overrides() []catalog.Option {
	list := make([]catalog.Option, 0, len(allOverrides))
	for _, o := range allOverrides {
		list = append(list, o.option)
	}
	return list
}

// set returns the environment variables for the settings of a request. A value
// must match the type of its option and, where the scripts would interpret it,
// a stricter form. An unknown key is an error; its name is shortened and made
// valid UTF-8 in the message.
func set(values map[string]string) ([]catalog.Variable, error) {
	var list []catalog.Variable
	for _, o := range allOverrides {
		value, ok := values[o.option.Key]
		if !ok {
			continue
		}
		if !catalog.CheckOption(o.option, value) || value == "" || o.form != nil && !o.form(value) {
			return nil, invalid(o.option.Key, "the value is invalid: %s", o.option.Description)
		}
		if o.option.Type == catalog.Boolean {
			value = map[string]string{"true": o.on, "false": o.off}[value]
		}
		list = append(list, catalog.Variable{Name: o.variable, Value: value, Secret: o.option.Secret})
	}
	if len(list) == len(values) {
		return list, nil
	}
	for key := range values {
		known := false
		for _, o := range allOverrides {
			known = known || o.option.Key == key
		}
		if !known {
			return nil, invalid(cut(strings.ToValidUTF8(key, "?"), 63), "this is not a setting of an install")
		}
	}
	return list, nil
}
