package pvesim

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	firewallNamePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]+$`)
	aliasPattern        = regexp.MustCompile(`^(dc/|guest/)?([A-Za-z][A-Za-z0-9_-]+)$`)
	ipsetPattern        = regexp.MustCompile(`^\+(dc/|guest/)?([A-Za-z][A-Za-z0-9_-]+)$`)
)

// parseAddress reads an address, a network without host bits, or a range of addresses, and tells its family: 4 or 6.
func parseAddress(s string) (family int, err error) {
	first, last, isRange := strings.Cut(s, "-")
	if isRange {
		from, err := netip.ParseAddr(strings.TrimSpace(first))
		if err != nil {
			return 0, fmt.Errorf("invalid IP address: cannot read %s", first)
		}
		to, err := netip.ParseAddr(strings.TrimSpace(last))
		if err != nil || from.Is4() != to.Is4() || to.Less(from) {
			return 0, fmt.Errorf("invalid IP address: %s is no range", s)
		}
		return familyOf(from), nil
	}
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		if err != nil || p.Masked().Addr() != p.Addr() {
			return 0, fmt.Errorf("invalid IP address: Invalid prefix %s", s)
		}
		return familyOf(p.Addr()), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return 0, fmt.Errorf("invalid IP address: cannot read %s", s)
	}
	return familyOf(a), nil
}

func familyOf(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}

// parseAddressSpec reads source or dest of a rule. Names of aliases and sets have no family of their own.
func parseAddressSpec(s string) (family int, err error) {
	if strings.HasPrefix(s, "+") || aliasPattern.MatchString(s) {
		if len(s) > 65 {
			return 0, errors.New("name too long")
		}
		return 0, nil
	}
	elements := strings.Split(s, ",")
	if s == "" {
		return 0, nil
	}
	if slices.Contains(elements, "") {
		return 0, errors.New("extraneous commas in list")
	}
	for _, e := range elements {
		f, err := parseAddress(e)
		switch {
		case err != nil:
			return 0, err
		case family != 0 && f != family:
			return 0, fmt.Errorf("detected mixed ipv4/ipv6 addresses in address list '%s'", s)
		case strings.Contains(e, "-") && len(elements) > 1:
			return 0, errors.New("you can't use a range in a list")
		}
		family = f
	}
	return family, nil
}

// maxPorts is how many numbers a list of ports may have; a range counts as two.
const maxPorts = 15

// checkPorts returns what is wrong with the ports of a rule. Where icmp is set a single name of an ICMP type passes as well.
func checkPorts(s string, icmp bool) error {
	elements := strings.Split(s, ",")
	if s == "" {
		return nil
	}
	if slices.Contains(elements, "") {
		return errors.New("extraneous commas in list")
	}
	count := 0
	for _, e := range elements {
		from, to, isRange := strings.Cut(e, ":")
		if !isNumber(from) || isRange && !isNumber(to) {
			if icmp && (icmpTypes[e] || icmpv6Types[e]) && len(elements) == 1 || servicePorts[e] {
				count++
				continue
			}
			return fmt.Errorf("invalid port '%s'", e)
		}
		for _, port := range []string{from, to} {
			if n, err := strconv.Atoi(port); port != "" && (err != nil || n > 65535) {
				return fmt.Errorf("invalid port '%s'", port)
			}
		}
		count++
		if isRange {
			count++
			low, _ := strconv.Atoi(from)
			high, _ := strconv.Atoi(to)
			if low > high {
				return fmt.Errorf("backwards range '%d:%d' not allowed, did you mean '%d:%d'?", low, high, high, low)
			}
		}
	}
	if count > maxPorts {
		return fmt.Errorf("too many entries in port list (> %d numbers)", maxPorts)
	}
	return nil
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func wordSet(words string) map[string]bool { return privSet(strings.Fields(words)) }

// servicePorts are the names of services that may stand for a port.
var servicePorts = wordSet(`ftp-data ftp ssh telnet smtp time domain bootps bootpc tftp gopher finger http kerberos pop3 sunrpc nntp ntp
	netbios-ns netbios-dgm netbios-ssn imap2 snmp snmp-trap irc ldap https microsoft-ds submissions isakmp syslog printer submission ipp ldaps rsync
	ftps-data ftps telnets imaps pop3s openvpn ms-sql-s nfs mysql rdp postgresql sip sips mdns amqp x11 redis`)

// protocols are the names of protocols that a rule may have; numbers up to 255 pass too.
var protocols = wordSet(`ip icmp igmp ggp ipencap st tcp egp igp pup udp hmp xns-idp rdp iso-tp4 dccp xtp ddp idpr-cmtp ipv6 ipv6-route ipv6-frag
	idrp rsvp gre esp ah skip ipv6-icmp icmpv6 ipv6-nonxt ipv6-opts rspf vmtp eigrp ospf ax.25 ipip etherip encap pim ipcomp vrrp l2tp isis sctp
	fc mobility-header udplite mpls-in-ip manet hip shim6 wesp rohc`)

// portProtocols are those that have ports.
var portProtocols = wordSet("tcp udp udplite sctp dccp 6 17 136 132 33")

var icmpTypes = wordSet(`any echo-reply destination-unreachable network-unreachable host-unreachable protocol-unreachable port-unreachable
	fragmentation-needed source-route-failed network-unknown host-unknown network-prohibited host-prohibited TOS-network-unreachable
	TOS-host-unreachable communication-prohibited host-precedence-violation precedence-cutoff source-quench redirect network-redirect host-redirect
	TOS-network-redirect TOS-host-redirect echo-request router-advertisement router-solicitation time-exceeded ttl-zero-during-transit
	ttl-zero-during-reassembly parameter-problem ip-header-bad required-option-missing timestamp-request timestamp-reply address-mask-request
	address-mask-reply`)

var icmpv6Types = wordSet(`destination-unreachable no-route communication-prohibited beyond-scope address-unreachable port-unreachable
	failed-policy reject-route packet-too-big time-exceeded ttl-zero-during-transit ttl-zero-during-reassembly parameter-problem bad-header
	unknown-header-type unknown-option echo-request echo-reply router-solicitation router-advertisement neighbor-solicitation
	neighbour-solicitation neighbor-advertisement neighbour-advertisement redirect`)

// firewallFormats are the named formats of rules. Nothing passes: it takes a field out of a rule.
var firewallFormats = map[string]func(string) string{
	"pve-fw-addr-spec":  func(s string) string { _, err := parseAddressSpec(s); return errorText(err) },
	"pve-fw-dport-spec": func(s string) string { return errorText(checkPorts(s, true)) },
	"pve-fw-sport-spec": func(s string) string { return errorText(checkPorts(s, false)) },
	"pve-fw-protocol-spec": func(s string) string {
		if n, err := strconv.Atoi(s); s == "" || protocols[s] || err == nil && n >= 0 && n <= 255 {
			return ""
		}
		return "unknown protocol '" + s + "'"
	},
	"pve-fw-icmp-type-spec": func(s string) string {
		if s == "" || icmpTypes[s] || icmpv6Types[s] {
			return ""
		}
		return "invalid icmp-type '" + s + "'"
	},
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
