package pvesim

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
)

// listCertificates has the certificate of the cluster's authority, which here is a text only, and that of the node, which it shows.
func listCertificates(r *request) (result, *apiError) {
	r.node.cert.mu.RLock()
	leaf := r.node.cert.leaf
	r.node.cert.mu.RUnlock()
	shown, err := x509.ParseCertificate(leaf)
	if err != nil {
		return fail(failure("reading the certificate of %s: %v", r.node.name, err))
	}
	names := append([]string{}, shown.DNSNames...)
	for _, ip := range shown.IPAddresses {
		names = append(names, ip.String())
	}
	authority := "/CN=Proxmox Virtual Environment/OU=6d03796e-0b86-4abd-9ac7-4db9d5adef00/O=PVE Cluster Manager CA"
	sum := sha256.Sum256([]byte(authority))
	return ok([]map[string]any{
		{"filename": "pve-root-ca.pem", "fingerprint": colons(sum), "issuer": authority, "subject": authority, "san": []string{},
			"notbefore": shown.NotBefore.Unix(), "notafter": shown.NotBefore.AddDate(10, 0, 0).Unix(), "public-key-bits": 4096,
			"public-key-type": "rsaEncryption", "pem": "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"},
		{"filename": "pve-ssl.pem", "fingerprint": r.node.cert.fingerprint(), "issuer": authority,
			"subject": "/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN=" + shown.Subject.CommonName, "san": names,
			"notbefore": shown.NotBefore.Unix(), "notafter": shown.NotAfter.Unix(), "public-key-bits": 256,
			"public-key-type": "id-ecPublicKey", "pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf}))},
	})
}
