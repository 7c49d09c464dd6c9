package command_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A script enrols with flags alone: the certificate must match, every token is tried before anything is stored, and what was not chosen
// is not sent as chosen.
func TestHostEnrol_StoresNothingBeforeAllIsVerified(t *testing.T) {
	f := &fake{}
	reason := ""
	f.answer("GET /api/v1/hosts/drivers", 200, `[{"name":"pve","product":"Proxmox VE"}]`)
	f.HandleFunc("POST /api/v1/hosts/probe", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Paste string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		token := `[]`
		if in.Paste != "" {
			token = `[{"key":"monitoring","token_id":"service@pve!monitoring","reason":` + reason + `,"error":"it was revoked",
				"missing":["Sys.Audit"],"remedy":"pveum role modify X"}]`
		}
		_, _ = io.WriteString(w, `{"fingerprint":"AA:BB","certificate":{"names":["pve1"],"not_after":"2030-01-01T00:00:00Z","trusted":false},
			"tokens":`+token+`}`)
	})
	f.answer("POST /api/v1/hosts", 201, `{"id":3,"name":"lab"}`)
	run := f.start(t)
	paste := filepath.Join(t.TempDir(), "tokens.txt")
	if err := os.WriteFile(paste, []byte("monitoring\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	enrol := func(more ...string) (int, string) {
		words := append([]string{"host", "enrol", "pve1.lab", "--name", "lab", "--capabilities", "monitoring", "--paste-file", paste}, more...)
		status, _, said := run("", words...)
		return status, said
	}
	stored := func() int {
		n := 0
		for _, asked := range f.asked {
			if strings.HasPrefix(asked, "POST /api/v1/hosts {") {
				n++
			}
		}
		return n
	}
	if status, said := enrol(); status != 9 || !strings.Contains(said, "AA:BB") || stored() != 0 {
		t.Errorf("a certificate that nobody compared: %d %s", status, said)
	}
	reason = `"auth"`
	if status, said := enrol("--tls-fingerprint", "AA:BB"); status != 7 || !strings.Contains(said, "revoked") || stored() != 0 {
		t.Errorf("a token that is rejected: %d %s", status, said)
	}
	reason = `null`
	status, said := enrol("--tls-fingerprint", "AA:BB")
	if status != 0 || !strings.Contains(said, "Enrolled lab as host 3") || !strings.Contains(said, "pveum role modify X") || stored() != 1 {
		t.Errorf("one that lacks a privilege: %d %s", status, said)
	}
	want := `{"address":"pve1.lab","capabilities":["monitoring"],"driver":"pve","name":"lab","paste":"monitoring\n",` +
		`"tls_fingerprint":"AA:BB","verify_tls":true}`
	if got := f.asked[len(f.asked)-1]; got != "POST /api/v1/hosts "+want {
		t.Errorf("asked %s", got)
	}
	if status, _, said := run("", "host", "enrol", "pve1.lab"); status != 2 || !strings.Contains(said, "--paste-file") {
		t.Errorf("without a terminal: %d %s", status, said)
	}
}
