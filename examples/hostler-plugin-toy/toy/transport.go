package toy

import (
	"net"
	"net/http"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
)

// maxTargets is how many targets have connections at a time. Whoever enrols and removes hosts all day must not fill the
// plugin's memory.
const maxTargets = 256

// transport gives the connections of a target. They are shared by all its credentials, since a token travels with each
// request, and never by two ways of checking the certificate or the address.
func (d *Driver) transport(target endpoint.Target) (*http.Transport, error) {
	key := target
	key.Credential = endpoint.Credential{}
	d.mu.Lock()
	defer d.mu.Unlock()
	if t, ok := d.way[key]; ok {
		return t, nil
	}
	// Checks the pinned fingerprint, or what else the target says, on every connection. A refusal is an Untrusted error that
	// carries the fingerprint that was seen.
	trust, err := endpoint.TLSConfig(target, nil)
	if err != nil {
		return nil, err
	}
	// Judges the address that is really dialled, after the name was looked up. It is worth nothing behind a proxy, which is
	// why Proxy stays nil.
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: endpoint.DialControl(target)}
	t := &http.Transport{
		Proxy: nil, DialContext: dialer.DialContext, TLSClientConfig: trust, TLSHandshakeTimeout: 10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second, MaxConnsPerHost: 4, IdleConnTimeout: 75 * time.Second,
	}
	if len(d.way) >= maxTargets {
		for old, gone := range d.way { // any one: who needs it again connects again
			delete(d.way, old)
			gone.CloseIdleConnections()
			break
		}
	}
	d.way[key] = t
	return t, nil
}
