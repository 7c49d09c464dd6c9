package pvesim

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"

	"github.com/hostler/hostler/plugins/pve/pvefirewall"
)

// FirewallClient says as what nodes see clients. All of a test come from loopback, which no firewall would take for somebody else.
type FirewallClient struct {
	// Network is where the clients really come from, such as 127.0.0.0/8.
	Network netip.Prefix `json:"network"`
	// As is the address, or the network, that nodes see instead. In a network each client keeps the last bits of its own address.
	As netip.Prefix `json:"as"`
}

// SetFirewallClients lets nodes' firewalls decide whether clients reach them, which without any they do not: a connection that a
// node's rules in force drop is accepted by the kernel and then never answered, one that they reject is reset. Of several networks
// the longest counts, and a client in none reaches every node.
//
// Connections that are open already live on, as the real firewall lets what was established before pass:
// [Cluster.DropConnections] ends them. A connection that was dropped stays without an answer, whatever becomes of the rules; the
// retries of a real kernel would get through then. What nodes pass on to each other goes through their firewalls as well.
func (c *Cluster) SetFirewallClients(clients ...FirewallClient) error {
	for _, v := range clients {
		if !v.Network.IsValid() || !v.As.IsValid() {
			return fmt.Errorf("firewall client %s as %s: both are needed", v.Network, v.As)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.force.clients = slices.Clone(clients)
	slices.SortStableFunc(c.force.clients, func(a, b FirewallClient) int { return b.Network.Bits() - a.Network.Bits() })
	return nil
}

// seen is the address that nodes see of a client; ok is false for one that no firewall is asked about.
func (f *enforcement) seen(client netip.Addr) (as netip.Addr, ok bool) {
	for _, v := range f.clients {
		if v.Network.Contains(client) {
			return transplant(client, v.As), true
		}
	}
	return netip.Addr{}, false
}

// transplant puts the last bits of an address into a network.
func transplant(from netip.Addr, to netip.Prefix) netip.Addr {
	address, own := to.Masked().Addr().AsSlice(), from.AsSlice()
	for bit := to.Bits(); bit < len(address)*8; bit++ {
		back := len(address)*8 - bit // the same bit from the end
		if i := len(own)*8 - back; i >= 0 && own[i/8]&(0x80>>(i%8)) != 0 {
			address[bit/8] |= 0x80 >> (bit % 8)
		}
	}
	a, _ := netip.AddrFromSlice(address)
	return a
}

// admit is what a node's firewall does with a connection that a client has opened.
func (c *Cluster) admit(n *node, client net.Addr) pvefirewall.Verdict {
	from, err := netip.ParseAddrPort(client.String())
	if err != nil {
		return pvefirewall.Accept
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	source, asked := c.force.seen(from.Addr().Unmap())
	if !asked {
		return pvefirewall.Accept
	}
	verdict, by := c.judgeIncoming(n, source, from.Port())
	c.logVerdict(n, verdict, by, source, from.Port())
	return verdict
}

// ignore reads what a client sends until it gives up, and answers nothing.
func (s *serverState) ignore(conn net.Conn) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		_ = conn.Close()
		return
	}
	if s.ignored == nil {
		s.ignored = map[net.Conn]bool{}
	}
	s.ignored[conn] = true
	s.wait.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wait.Done()
		_, _ = io.Copy(io.Discard, conn) // ends when either side closes
		_ = conn.Close()
		s.mu.Lock()
		delete(s.ignored, conn)
		s.mu.Unlock()
	}()
}

// reach says why a request does not get from one node to another, or nil. The real server waits for half a minute before it gives a
// dropped connection up.
func (c *Cluster) reach(from, to *node) *apiError {
	dest, err := netip.ParseAddr(to.ip)
	source, own := netip.ParseAddr(from.ip)
	if len(c.force.clients) == 0 || err != nil || own != nil {
		return nil
	}
	port := uint16(32768 + c.rand.Uint32N(28232))
	verdict, _ := c.judgeOutgoing(from, dest, port)
	if verdict == pvefirewall.Accept {
		var by pvefirewall.Decision
		verdict, by = c.judgeIncoming(to, source, port)
		c.logVerdict(to, verdict, by, source, port)
	}
	switch verdict {
	case pvefirewall.Drop:
		return serverError(595, "Connection timed out", bodyNone)
	case pvefirewall.Reject:
		return serverError(595, "Connection refused", bodyNone)
	}
	return nil
}
