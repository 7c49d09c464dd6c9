package audit_test

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/audit"
)

const canary = "canary-3f9a-secret-value"

type nested struct {
	Name        string            `json:"name"`
	TokenSecret string            `json:"token_secret"`
	Labels      map[string]string `json:"labels"`
	hidden      string
}

func TestRedactFindsSecretsWhereverTheyStand(t *testing.T) {
	t.Parallel()
	pointer := &nested{TokenSecret: canary}
	for name, details := range map[string]map[string]any{
		"plain":               {"password": canary},
		"camel":               {"newPassword": canary, "apiKey": canary, "TokenSecret": canary, "privateKey": canary},
		"signs":               {"API-KEY": canary, "private.key": canary, "recovery codes": []string{canary}, "x-auth-token": canary},
		"upper":               {"PASSWD": canary, "SECRET": canary, "Cookie": canary, "Set-Cookie": canary},
		"headers":             {"Authorization": canary, "Bearer": canary},
		"short names":         {"pwd": canary, "otp": canary, "seed": canary, "pass": canary},
		"whole object":        {"credentials": map[string]any{"anything": canary}},
		"array of objects":    {"items": []any{map[string]any{"ok": 1, "secret": canary}}},
		"array in array":      {"items": []any{[]any{map[string]any{"ticket": canary}}}},
		"array under its key": {"tokens": []any{canary, canary}},
		"struct":              {"host": nested{TokenSecret: canary}},
		"pointer":             {"host": pointer},
		"slice of structs":    {"hosts": []nested{{TokenSecret: canary}}},
		"typed map":           {"host": map[string]string{"ssh_key": canary}},
		"map in struct":       {"host": nested{Labels: map[string]string{"totp-seed": canary}}},
		"raw JSON":            {"body": json.RawMessage(`{"a":[{"Token_Secret":"` + canary + `"}]}`)},
		"bytes":               {"secret": []byte(canary)},
		"too deep":            {"a": deep(40)},
		"by look: header":     {"note": "Bearer " + canary},
		"by look: hypervisor": {"note": "Authorization: PVEAPIToken=service@pve!monitoring=" + canary},
		"by look: token":      {"note": "service@pve!monitoring=0a1b2c3d-" + canary},
		"by look: pem":        {"note": "-----BEGIN OPENSSH PRIVATE KEY-----\n" + canary},
		"by look: API key":    {"note": "svc_" + canary},
		"by look: join token": {"note": base64.StdEncoding.EncodeToString([]byte(`{"client_name":"hostler","secret":"` + canary + `"}`))},
		"by look: PEM key":    {"note": "-----BEGIN EC PRIVATE KEY-----\n" + canary + "\n-----END EC PRIVATE KEY-----"},
		"by look: DER key":    {"notes": []string{"MHcCAQEEIAxU" + strings.Repeat("A", 40) + canary}},
		"by look: URL":        {"note": "postgres://hostler:" + canary + "@db/hostler"},
		"by look: in array":   {"notes": []string{"fine", "Bearer " + canary}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(audit.Redact(details))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), canary) {
				t.Errorf("the secret is still in %s", text)
			}
			if !strings.Contains(string(text), audit.Redacted) {
				t.Errorf("nothing says that a value is missing: %s", text)
			}
		})
	}
	_ = pointer.hidden
	if pointer.TokenSecret != canary {
		t.Error("the original was changed")
	}
}

func deep(n int) any {
	if n == 0 {
		return map[string]any{"note": canary}
	}
	return map[string]any{"a": deep(n - 1)}
}

func TestRedactKeepsWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	in := map[string]any{
		"token_id": "service@pve!monitoring", "session_id": 7, "sessions_revoked": int64(2), "keys": []string{"poll.interval_s"},
		"name": "db01", "big": json.RawMessage("9007199254740993"), "list": []int{1, 2}, "none": nil, "yes": true,
	}
	text, err := json.Marshal(audit.Redact(in))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"big":9007199254740993,"keys":["poll.interval_s"],"list":[1,2],"name":"db01","none":null,"session_id":7,` +
		`"sessions_revoked":2,"token_id":"service@pve!monitoring","yes":true}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestRedactMakesDetailsStorable(t *testing.T) {
	t.Parallel()
	out := audit.Redact(map[string]any{"a\x00b": "c\x00d", "bad": "\xff", "nan": math.NaN(), "func": func() {},
		"long": strings.Repeat("x", 100_000)})
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `\u0000`) || len(text) > 10_000 {
		t.Errorf("%d bytes: %.200s", len(text), text)
	}
	if out["ab"] != "cd" || out["nan"] != nil || out["func"] != audit.Redacted {
		t.Errorf("%.200v", out)
	}
}
