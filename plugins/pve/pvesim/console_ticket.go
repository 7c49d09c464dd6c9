package pvesim

import (
	"crypto/hmac"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// consoleTicketLifetime is how long the ticket of a console is good.
const consoleTicketLifetime = 40 * time.Second

// What the pve-manager of a release brought, or the packages that were released with it.
const (
	// shellsForTokens: tokens open the shells of nodes.
	shellsForTokens = "9.0.13"
	// terminalsForTokens: the program behind the terminals of guests
	// (qemu-server 9.1.7, pve-container 6.1.3) takes tokens.
	terminalsForTokens = "9.1.9"
	// boundTickets: a ticket is good for its port only, and a VM's screen has a
	// password of its own.
	boundTickets = "9.1.9"
)

// SetConsoleRelease lets consoles behave as those of another release, such as
// "9.0.5"; empty is that of the options. Packages of a host that is being
// updated are of several releases.
func (c *Cluster) SetConsoleRelease(version string) error {
	var rel *release
	if version != "" {
		parsed, err := parseRelease(version)
		if err != nil {
			return err
		}
		rel = &parsed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.consoleRel = rel
	return nil
}

// consoleRelease needs the mutex.
func (c *Cluster) consoleRelease() release {
	if c.consoleRel != nil {
		return *c.consoleRel
	}
	return c.release
}

// consoleTicket is good for the one who asked, the path, and with newer releases the port.
func (c *Cluster) consoleTicket(con *console, now time.Time) string {
	plain := fmt.Sprintf("PVEVNC:%08X", now.Unix())
	return plain + "::" + c.mac(plain, con.who.id(), con.path, c.consoleBinding(con.port))
}

// consoleBinding returns what a console's ticket is bound to: its port, from
// the release on that does so.
func (c *Cluster) consoleBinding(port int) string {
	if c.consoleRelease().before(boundTickets) {
		return ""
	}
	return strconv.Itoa(port)
}

// verifyConsoleTicket checks a ticket as the connection and the login line have
// it: of a VM's screen with the password in front.
func (c *Cluster) verifyConsoleTicket(ticket string, who identity, path string, port int, now time.Time) bool {
	if len(ticket) > consolePasswordLength && ticket[consolePasswordLength] == ':' && !strings.HasPrefix(ticket, "PVEVNC:") {
		ticket = ticket[consolePasswordLength+1:]
	}
	plain, sig, found := strings.Cut(ticket, "::")
	stamp, isTicket := strings.CutPrefix(plain, "PVEVNC:")
	at, err := strconv.ParseInt(stamp, 16, 64)
	if !found || !isTicket || err != nil {
		return false
	}
	age := now.Sub(time.Unix(at, 0))
	return hmac.Equal([]byte(sig), []byte(c.mac(plain, who.id(), path, c.consoleBinding(port)))) && age > -time.Minute &&
		age <= consoleTicketLifetime
}

// consolePassword has characters that are none of a name's.
func (c *Cluster) consolePassword() string {
	const letters = "!#$%&()*+,-./0123456789<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~"
	out := make([]byte, consolePasswordLength)
	for i := range out {
		out[i] = letters[c.rand.IntN(len(letters))]
	}
	return string(out)
}
