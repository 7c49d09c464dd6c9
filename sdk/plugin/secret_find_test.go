package plugin_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/plugin"
)

// keys are private keys in every usual DER form, and what is public of one.
func keys(t *testing.T) (private, public map[string][]byte) {
	t.Helper()
	private, public = map[string][]byte{}, map[string][]byte{}
	must := func(der []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private["EC PRIVATE KEY"] = must(x509.MarshalECPrivateKey(curve))
	private["PRIVATE KEY"] = must(x509.MarshalPKCS8PrivateKey(curve))
	private["PRIVATE KEY of Ed25519"] = must(x509.MarshalPKCS8PrivateKey(edwards))
	private["RSA PRIVATE KEY"] = x509.MarshalPKCS1PrivateKey(long)
	private["PRIVATE KEY of RSA"] = must(x509.MarshalPKCS8PrivateKey(long))
	public["certificate"] = must(x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, &curve.PublicKey, curve))
	public["public key"] = must(x509.MarshalPKIXPublicKey(&curve.PublicKey))
	public["public RSA key"] = must(x509.MarshalPKIXPublicKey(&long.PublicKey))
	public["request"] = must(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, curve))
	public["signature"] = must(ecdsa.SignASN1(rand.Reader, curve, make([]byte, 32)))
	return private, public
}

func TestHideSecretsKnowsKeys(t *testing.T) {
	t.Parallel()
	private, public := keys(t)
	for name, der := range private {
		kind, _, _ := strings.Cut(name, " of ")
		body := base64.StdEncoding.EncodeToString(der)
		text := string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
		for form, c := range map[string]string{
			"base64": body, "base64 in JSON": `{"key":"` + body + `"}`, "base64 for URLs": base64.RawURLEncoding.EncodeToString(der),
			"base64, cut off": body[:40], "glued": "key=" + body, "PEM": text, "PEM, cut off": text[:60],
			"PEM on one line": strings.ReplaceAll(text, "\n", " "),
			"PEM in JSON":     strings.ReplaceAll(text, "\n", `\n`), "two in PEM": text + text,
		} {
			got := plugin.HideSecrets("before " + c + " after")
			if !strings.HasPrefix(got, "before ") || !strings.Contains(got, "[secret]") || strings.Contains(got, body[8:24]) {
				t.Errorf("%s as %s: %s", name, form, got)
			}
		}
	}
	for name, der := range public {
		text := base64.StdEncoding.EncodeToString(der)
		if got := plugin.HideSecrets(text); got != text {
			t.Errorf("a %s was hidden: %s", name, got)
		}
	}
}

func TestHideSecretsKnowsOneTimeCodes(t *testing.T) {
	t.Parallel()
	const code = `{"client_name":"hostler","fingerprint":"00ff","addresses":["192.0.2.1:8443"],"secret":"canary",` +
		`"expires_at":"2026-01-01T00:00:00Z"}`
	for name, text := range map[string]string{
		"plain": base64.StdEncoding.EncodeToString([]byte(code)), "without padding": base64.RawStdEncoding.EncodeToString([]byte(code)),
		"for URLs": base64.URLEncoding.EncodeToString([]byte(code)), "cut off": base64.StdEncoding.EncodeToString([]byte(code))[:140],
	} {
		got := plugin.HideSecrets("joining with " + text + ".")
		if !strings.HasPrefix(got, "joining with [secret]") || strings.Contains(got, "eyJ") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, text := range []string{
		"", "nothing", "Mustermann und Sohn GmbH und Co KG aus Musterstadt",
		base64.StdEncoding.EncodeToString([]byte(`{"name":"a host of ours","port":8443}`)),
		"UPID:pve1:0000D1A2:0000:MIGRATE:100:service@pve!lifecycle:", strings.Repeat("M", 200), strings.Repeat("eyJ", 100),
		"3F:9A:0C:51:7B:E2:44:D8:96:1E:A7:30:CB:5D:82:F6:19:60:BE:4C:D3:07:8A:F1:2E:95:6B:C8:54:A0:ED:73",
	} {
		if got := plugin.HideSecrets(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
