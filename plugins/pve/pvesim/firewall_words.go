package pvesim

import (
	"strings"
)

// wordSet returns the words of a text as a set.
func wordSet(words string) map[string]bool { return privSet(strings.Fields(words)) }

// servicePorts are the names of services that may stand for a port.
var servicePorts = wordSet(`ftp-data ftp ssh telnet smtp time domain bootps bootpc tftp gopher finger http kerberos pop3 sunrpc nntp ntp
	netbios-ns
	netbios-dgm netbios-ssn imap2 snmp snmp-trap irc ldap https microsoft-ds submissions isakmp syslog printer submission
	ipp ldaps rsync ftps-data ftps telnets imaps pop3s openvpn ms-sql-s nfs mysql rdp postgresql sip sips mdns amqp x11
	redis`)

// protocols are the names of protocols that a rule may have; numbers up to 255 pass too.
var protocols = wordSet(`ip icmp igmp ggp ipencap st tcp egp igp pup udp hmp xns-idp rdp iso-tp4 dccp xtp ddp idpr-cmtp ipv6 ipv6-route
	ipv6-frag
	idrp rsvp gre esp ah skip ipv6-icmp icmpv6 ipv6-nonxt ipv6-opts rspf vmtp eigrp ospf ax.25 ipip etherip encap pim ipcomp
	vrrp l2tp isis sctp fc mobility-header udplite mpls-in-ip manet hip shim6 wesp rohc`)

// portProtocols are those that have ports.
var portProtocols = wordSet("tcp udp udplite sctp dccp 6 17 136 132 33")

// icmpTypes are the names that iptables knows.
var icmpTypes = wordSet(`any echo-reply destination-unreachable network-unreachable host-unreachable protocol-unreachable port-unreachable
	fragmentation-needed source-route-failed network-unknown host-unknown network-prohibited host-prohibited
	TOS-network-unreachable TOS-host-unreachable communication-prohibited host-precedence-violation precedence-cutoff
	source-quench redirect network-redirect host-redirect TOS-network-redirect TOS-host-redirect echo-request
	router-advertisement router-solicitation time-exceeded ttl-zero-during-transit ttl-zero-during-reassembly
	parameter-problem ip-header-bad required-option-missing timestamp-request timestamp-reply address-mask-request
	address-mask-reply`)

// icmpv6Types are the names that ip6tables knows.
var icmpv6Types = wordSet(`destination-unreachable no-route communication-prohibited beyond-scope address-unreachable port-unreachable
	failed-policy reject-route packet-too-big time-exceeded ttl-zero-during-transit ttl-zero-during-reassembly
	parameter-problem bad-header unknown-header-type unknown-option echo-request echo-reply router-solicitation
	router-advertisement neighbor-solicitation neighbour-solicitation neighbor-advertisement neighbour-advertisement
	redirect`)

// conntrackHelpers are the helpers that an option may name.
var conntrackHelpers = wordSet("amanda ftp irc netbios-ns pptp sane sip snmp tftp")
