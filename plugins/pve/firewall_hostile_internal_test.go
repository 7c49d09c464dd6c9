package pve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// hostileAnswers are data that no firewall has.
var hostileAnswers = []string{
	`null`, `{}`, `[]`, `""`, `7`, `true`, `[null]`, `[[]]`, `[7]`, `["x"]`, `{"digest":{}}`,
	`{"digest":null,"enable":[],"policy_in":{"a":1}}`,
	`[{}]`, `[{"pos":1}]`, `[{"pos":"0"},{"pos":"0"}]`, `[{"pos":1e3}]`, `[{"pos":-1}]`, `[{"pos":[]}]`, `[{"pos":99999999999999999999}]`,
	`[{"pos":0,"type":{},"action":[],"enable":{"a":1},"digest":[[]],"errors":{"source":"no such alias"}}]`,
	`[{"pos":0,"type":7,"action":true,"enable":"yes","digest":12,"comment":"\u0000\ud800\n"}]`,
	`[{"name":{},"cidr":[],"comment":7,"digest":{}}]`,
	`[{"name":null,"group":null,"macro":null,"digest":"` + strings.Repeat("d", 1<<16) + `"}]`,
	`[{"name":"../..","group":"../..","cidr":"../..","nomatch":"maybe"}]`, `[{"type":"planet","scope":"universe","ref":[],"name":"x"}]`,
	`[{"type":"group","scope":"dc","ref":"x","name":"x"}]`, `[{"n":-1,"t":null},{"n":"x","t":7},{"n":1e300,"t":{}}]`,
	`[{"n":1,"t":"0 6 X-IN 25/Nov/2026:10:00:00 +0000 DROP: ` + strings.Repeat("=[ ", 1<<13) + `"}]`,
	`[` + strings.Repeat(`{"pos":0,"n":1,"t":"x","name":"a"},`, 500) + `{}]`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
	`[{"pos":0,"type":"in"`, `<html>`,
}

// firewallReads are all questions, and firewallChanges all changes, of a firewall.
func firewallReads(f *Firewall) map[string]func(context.Context) error {
	on, node := firewall.Scope{Kind: firewall.ClusterScope}, firewall.Scope{Kind: firewall.NodeScope, Node: "pve1"}
	return map[string]func(context.Context) error{
		"rules":      func(ctx context.Context) error { _, _, err := f.Rules(ctx, on); return err },
		"aliases":    func(ctx context.Context) error { _, _, err := f.Aliases(ctx, on); return err },
		"sets":       func(ctx context.Context) error { _, _, err := f.IPSets(ctx, on); return err },
		"members":    func(ctx context.Context) error { _, _, err := f.IPSetMembers(ctx, on, "web"); return err },
		"options":    func(ctx context.Context) error { _, err := f.Options(ctx, on); return err },
		"log":        func(ctx context.Context) error { _, err := f.Log(ctx, node, firewall.LogQuery{}); return err },
		"references": func(ctx context.Context) error { _, err := f.References(ctx, on); return err },
		"groups":     func(ctx context.Context) error { _, _, err := f.Groups(ctx); return err },
		"macros":     func(ctx context.Context) error { _, err := f.Macros(ctx); return err },
		"usage": func(ctx context.Context) error {
			_, err := f.Usage(ctx, on, firewall.AliasObject, "a")
			return err
		},
	}
}

func firewallChanges(f *Firewall) map[string]func(context.Context) error {
	guest := firewall.Scope{Kind: firewall.GuestScope, Guest: &firewall.Guest{Kind: "vm", Node: "pve1", ID: "100"}}
	on, text, digest := firewall.Scope{Kind: firewall.ClusterScope}, "text", strings.Repeat("0", 40)
	rule := firewall.Rule{Direction: "in", Action: "DROP"}
	return map[string]func(context.Context) error{
		"create rule": func(ctx context.Context) error { _, _, err := f.CreateRule(ctx, on, rule, digest); return err },
		"of a guest":  func(ctx context.Context) error { return f.DeleteRule(ctx, guest, 0, "") },
		"move down":   func(ctx context.Context) error { return f.MoveRule(ctx, on, 0, 1, digest) },
		"stay":        func(ctx context.Context) error { return f.MoveRule(ctx, on, 1, 1, digest) },
		"alias": func(ctx context.Context) error {
			return f.ChangeAlias(ctx, on, "web", firewall.AliasChange{Comment: &text})
		},
		"delete alias": func(ctx context.Context) error { return f.DeleteAlias(ctx, on, "web", "") },
		"set":          func(ctx context.Context) error { return f.CreateIPSet(ctx, on, firewall.IPSet{Name: "web"}, digest) },
		"delete set":   func(ctx context.Context) error { return f.DeleteIPSet(ctx, on, "web", true, digest) },
		"member": func(ctx context.Context) error {
			return f.AddIPSetMember(ctx, on, "web", firewall.IPSetMember{CIDR: "a"}, digest)
		},
		"change member": func(ctx context.Context) error {
			return f.ChangeIPSetMember(ctx, on, "web", "a", firewall.IPSetMemberChange{})
		},
		"remove member": func(ctx context.Context) error { return f.RemoveIPSetMember(ctx, on, "web", "a", "") },
		"group":         func(ctx context.Context) error { return f.CreateGroup(ctx, firewall.Group{Name: "web"}, digest) },
		"delete group":  func(ctx context.Context) error { return f.DeleteGroup(ctx, "web", "") },
	}
}

// firewallSaying is the firewall of a host that answers every request with 200 and the body.
func firewallSaying(t *testing.T, body string) *Firewall {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		_, _ = io.WriteString(w, body)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	driver := New(nil)
	t.Cleanup(driver.Close)
	fw, err := NewBackend(driver).Open(t.Context(), endpoint.Target{
		Address: server.Listener.Addr().String(), Fingerprint: endpoint.Fingerprint(server.Certificate()), AllowLocal: true,
		Credential: endpoint.Credential{Capability: endpoint.Lifecycle, ID: "a@pve!b", Secret: "0b1c-canary"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return fw.(*Firewall)
}

// TestFirewallOfAHostileHost: whatever a host answers with 200, no question ends otherwise than with an answer or a plugin's error, and no
// change that looks before is made after an answer to the look that cannot be.
func TestFirewallOfAHostileHost(t *testing.T) {
	t.Parallel()
	for i, data := range hostileAnswers {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			raw := `{"data":` + data + `}`
			fw := firewallSaying(t, raw)
			for name, ask := range firewallReads(fw) {
				err := ask(t.Context())
				if _, isError := asError(err); err != nil && !isError {
					t.Errorf("%s of %.80s: error is %v", name, data, err)
				}
				if !json.Valid([]byte(raw)) && err == nil {
					t.Errorf("%s of %.80s: no error", name, data)
				}
			}
			for name, change := range firewallChanges(fw) {
				err := change(t.Context())
				if _, isError := asError(err); !isError {
					t.Errorf("%s after %.80s: error is %v", name, data, err)
				}
			}
		})
	}
}

// TestRulesOutOfOrder: what is done to a rule later names it by its place.
func TestRulesOutOfOrder(t *testing.T) {
	t.Parallel()
	for _, data := range []string{`[{"pos":1}]`, `[{"pos":0},{"pos":0}]`, `[{"pos":1},{"pos":0}]`, `[{}]`, `[{"pos":"x"}]`, `[null]`} {
		fw := firewallSaying(t, `{"data":`+data+`}`)
		if rules, _, err := fw.Rules(t.Context(), firewall.Scope{Kind: firewall.ClusterScope}); plugin.KindOf(err) != plugin.Protocol {
			t.Errorf("%s: %+v, %v", data, rules, err)
		}
	}
}
