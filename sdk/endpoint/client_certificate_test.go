package endpoint_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

func certificate(t *testing.T) endpoint.Credential {
	t.Helper()
	made, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestReadClientCertificate(t *testing.T) {
	t.Parallel()
	made := certificate(t)
	shown, key, _ := strings.Cut(string(made.Secret), "-----BEGIN PRIVATE")
	key = "-----BEGIN PRIVATE" + key
	pair, err := made.ClientCertificate()
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string]string{
		"as it was made": shown + key, "the key first": key + shown, "with text around": "Bag Attributes\n" + shown + "\n\n" + key + "\nend\n",
		"with line ends of Windows": strings.ReplaceAll(shown+key, "\n", "\r\n"), "with space around": "\n  " + shown + key + " \n",
		"with parameters": "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + key + shown,
	} {
		for _, id := range []string{"", made.ID, strings.ToLower(strings.ReplaceAll(made.ID, ":", ""))} {
			got, err := endpoint.ReadClientCertificate(endpoint.Credential{Capability: endpoint.Monitoring, ID: id, Secret: plugin.Secret(secret)})
			if err != nil || got != made {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if made.ID != endpoint.Fingerprint(pair.Leaf) || pair.Leaf.PublicKeyAlgorithm != x509.ECDSA {
		t.Errorf("id is %s", made.ID)
	}
}

func TestReadClientCertificateRefuses(t *testing.T) {
	t.Parallel()
	made, other := certificate(t), certificate(t)
	split := func(c endpoint.Credential) (shown, key string) {
		shown, key, _ = strings.Cut(string(c.Secret), "-----BEGIN PRIVATE")
		return shown, "-----BEGIN PRIVATE" + key
	}
	shown, key := split(made)
	otherShown, otherKey := split(other)
	encrypted := string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("canary")}))
	for name, c := range map[string]struct{ id, secret, field string }{
		"nothing":               {"", "", "secret"},
		"a word":                {"", "canary", "secret"},
		"no key":                {"", shown, "secret"},
		"no certificate":        {"", key, "secret"},
		"two certificates":      {"", shown + otherShown + key, "secret"},
		"two keys":              {"", shown + key + otherKey, "secret"},
		"another's key":         {"", shown + otherKey, "secret"},
		"an encrypted key":      {"", shown + encrypted, "secret"},
		"a certificate cut off": {"", shown[:100] + key, "secret"},
		"a key cut off":         {"", shown + key[:60], "secret"},
		"garbage for a key":     {"", shown + "-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END PRIVATE KEY-----\n", "secret"},
		"NUL":                   {"", shown + "-----BEGIN PRIVATE KEY-----\n\x00\n-----END PRIVATE KEY-----\n", "secret"},
		"too much":              {"", shown + key + strings.Repeat(" ", endpoint.MaxSecret), "secret"},
		"another's id":          {other.ID, shown + key, "id"},
		"a word for an id":      {"me", shown + key, "id"},
	} {
		_, err := endpoint.ReadClientCertificate(endpoint.Credential{ID: c.id, Secret: plugin.Secret(c.secret)})
		var e *plugin.Error
		if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field != c.field {
			t.Errorf("%s: error is %v, want invalid of %s", name, err, c.field)
		} else if strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "MIG") {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
	}
}

// What was made is taken by TLS for a client.
func TestNewClientCertificateIsForClients(t *testing.T) {
	t.Parallel()
	pair, err := certificate(t).ClientCertificate()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		t.Error("as a client's:", err)
	}
	if one, other := certificate(t), certificate(t); one.ID == other.ID {
		t.Error("two are the same")
	}
}
