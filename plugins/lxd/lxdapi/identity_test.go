package lxdapi_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestParseIdentity(t *testing.T) {
	t.Parallel()
	made, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	another, err := endpoint.NewClientCertificate(endpoint.Monitoring)
	if err != nil {
		t.Fatal(err)
	}
	secret, other := made.Secret, another.Secret
	certificate, rest := pem.Decode([]byte(secret))
	key, _ := pem.Decode(rest)
	otherCertificate, _ := pem.Decode([]byte(other))
	text := func(blocks ...*pem.Block) string {
		var b strings.Builder
		for _, block := range blocks {
			b.Write(pem.EncodeToMemory(block))
		}
		return b.String()
	}
	for name, good := range map[string]string{
		"as made": string(secret), "key first": text(key, certificate), "line ends of Windows": strings.ReplaceAll(string(secret), "\n", "\r\n"),
		"space around": "\n " + string(secret) + "\n\n",
	} {
		own, err := lxdapi.ParseIdentity(plugin.Secret(good))
		if err != nil || len(own.Fingerprint) != 95 || time.Until(own.NotAfter) < 9*365*24*time.Hour || len(own.DER()) == 0 {
			t.Errorf("%s: %v, %v", name, own, err)
		}
	}
	if len(secret) > 1<<10 {
		t.Errorf("an identity has %d bytes", len(secret))
	}
	garbage := &pem.Block{Type: "CERTIFICATE", Bytes: []byte(canary)}
	for name, bad := range map[string]string{
		"nothing": "", "no PEM": canary, "certificate alone": text(certificate), "key alone": text(key),
		"another's certificate": text(otherCertificate, key), "two certificates": text(certificate, otherCertificate, key),
		"two keys": text(certificate, key, key), "garbage": text(garbage, key), "something behind": string(secret) + canary,
		"encrypted": text(certificate, &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: key.Bytes}),
		"encrypted in the old way": text(certificate, &pem.Block{Type: "EC PRIVATE KEY",
			Headers: map[string]string{"DEK-Info": "AES-128-CBC,00"}, Bytes: key.Bytes}),
		"too long": string(secret) + strings.Repeat("\n", 16<<10),
	} {
		_, err := lxdapi.ParseIdentity(plugin.Secret(bad))
		if e := wantKind(t, err, plugin.Invalid); e.Field != "secret" {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// token makes a join token of what it should hold.
func token(change func(map[string]any)) plugin.Secret {
	body := map[string]any{"client_name": "service-monitoring", "fingerprint": strings.Repeat("5e", 32),
		"addresses": []string{"10.0.0.1:8443", "[fd00::1]:8443"}, "secret": canary, "expires_at": "2030-01-01T00:00:00Z"}
	change(body)
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return plugin.Secret(base64.StdEncoding.EncodeToString(text))
}

func TestParseJoinToken(t *testing.T) {
	t.Parallel()
	good, err := lxdapi.ParseJoinToken("\n" + token(func(map[string]any) {}) + " \n")
	if err != nil || good.ClientName != "service-monitoring" || len(good.Addresses) != 2 || good.Expires.Year() != 2030 ||
		good.Fingerprint != strings.TrimSuffix(strings.Repeat("5E:", 32), ":") {
		t.Fatalf("%v, %v", good, err)
	}
	if text := fmt.Sprintf("%v%+v%#v", good, good, struct{ T lxdapi.JoinToken }{good}); strings.Contains(text, canary) ||
		strings.Contains(text, "eyJ") {
		t.Error("the secret is in ", text)
	}
	many, err := lxdapi.ParseJoinToken(token(func(m map[string]any) { m["addresses"] = make([]string, 500); delete(m, "expires_at") }))
	if err != nil || len(many.Addresses) != 64 || !many.Expires.IsZero() {
		t.Errorf("%d addresses, %v, %v", len(many.Addresses), many.Expires, err)
	}
	for name, bad := range map[string]plugin.Secret{
		"nothing": "", "no base64": canary + "!", "no JSON": "AAAA", "too long": plugin.Secret(strings.Repeat("e", 16<<10+1)),
		"no secret":        token(func(m map[string]any) { delete(m, "secret") }),
		"short pin":        token(func(m map[string]any) { m["fingerprint"] = "00" }),
		"address a number": token(func(m map[string]any) { m["addresses"] = 7 }),
		"bad date":         token(func(m map[string]any) { m["expires_at"] = canary }),
	} {
		_, err := lxdapi.ParseJoinToken(bad)
		if e := wantKind(t, err, plugin.Invalid); e.Field != "secret" {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 1)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			answer(w, `{"auth":"untrusted"}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		sent <- string(body)
		if strings.Contains(string(body), `"name":"used"`) {
			refusal(w, 403, "No matching certificate add operation found for "+canary)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"type":"sync","metadata":null}`)
	})
	text := token(func(map[string]any) {})
	parsed, err := lxdapi.ParseJoinToken(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Join(t.Context(), parsed); err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf(`{"name":"service-monitoring","password":%q,"trust_token":%q,"type":"client"}`, string(text), string(text))
	if got := <-sent; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	used, err := lxdapi.ParseJoinToken(token(func(m map[string]any) { m["client_name"] = "used" }))
	if err != nil {
		t.Fatal(err)
	}
	wantKind(t, client.Join(t.Context(), used), plugin.TokenRejected)

	stranger := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") },
		func(target *endpoint.Target) { target.Credential.Secret = "" })
	wantKind(t, stranger.Join(t.Context(), parsed), plugin.Invalid)
	_, err = stranger.OwnCertificate(t.Context())
	wantKind(t, err, plugin.TokenRejected)
}
