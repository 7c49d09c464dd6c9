// Package endpoint describes where a call of a plugin goes: the address, how its
// certificate is checked, and the one credential that the call may use.
//
// It also contains what every plugin that opens network connections must do, whatever
// its kind. A plugin author combines three functions:
//
//   - TLSConfig checks the certificate on every connection, by pin or by authority.
//   - DialControl refuses addresses that must not be reached, such as the metadata
//     service of a cloud. It judges the address that is dialled, not the name.
//   - NetworkError turns a failure into a *plugin.Error that people understand.
//
// The package does not know hypervisors, catalogs or firewalls, and does not keep
// connections.
//
// # Example
//
//	config, err := endpoint.TLSConfig(target, nil)
//	if err != nil {
//		return err
//	}
//	dialer := &net.Dialer{Control: endpoint.DialControl(target)}
//	client := &http.Client{Transport: &http.Transport{
//		DialContext:     dialer.DialContext,
//		TLSClientConfig: config,
//	}}
//	resp, err := client.Do(req)
//	if err != nil {
//		return endpoint.NetworkError(ctx, err)
//	}
//
// The transport has no proxy: behind a proxy DialControl sees the address of the
// proxy only and protects nothing.
//
// # Credentials
//
// A Credential belongs to one Capability. Its Secret has the type plugin.Secret, which
// prints as a placeholder, so that it cannot get into a log by accident. The package
// reads and creates client certificates (ReadClientCertificate, NewClientCertificate);
// API tokens are checked by hypervisor.ReadToken or by the driver.
//
// # Fingerprints
//
// Fingerprint is the form of certificate fingerprints everywhere in Hostler, and
// HostKeyFingerprint that of SSH host keys. The Parse functions accept what people
// paste, and the Equal functions compare in constant time.
package endpoint
