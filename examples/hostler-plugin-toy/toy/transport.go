package toy

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxTargets is how many targets have connections at a time. Whoever enrols and removes hosts all day must not fill the
// plugin's memory.
const maxTargets = 256

// client gives what sends requests to a target.
func (d *Driver) client(target endpoint.Target) (client, error) {
	transport, err := d.transport(target)
	if err != nil {
		return client{}, err
	}
	// Never log target.Credential.Secret. It would print as "[secret]", but why try.
	log := d.log.With("address", target.Address, "capability", string(target.Credential.Capability))
	// Counted, so that people are shown how many requests the service causes at each host.
	return client{target: target, transport: plugin.CountRequests(transport), log: log}, nil
}

// transport gives the connections of a target. A connection shows one client's certificate, so that no other credential may use it:
// the credential is a part of the key, and its secret too, for an id is only what somebody says it is. Where a token travels
// with each request, all credentials may share the connections, and key.Credential is set to endpoint.Credential{} here.
func (d *Driver) transport(target endpoint.Target) (*http.Transport, error) {
	key := target
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
	// Read when it is needed, for Open must not fail of a credential that nobody uses.
	trust.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		shown, err := target.Credential.ClientCertificate()
		return &shown, err
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
