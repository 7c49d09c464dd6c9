package pvesim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// logOf reads a log: the numbers and first words of its lines, and the total.
func (a caller) logOf(path string) (lines []string, total int) {
	a.t.Helper()
	ans := a.raw("GET", path, "")
	var body struct {
		Data []struct {
			N int
			T string
		}
		Total *int
	}
	noError(a.t, json.Unmarshal(ans.body, &body))
	if ans.status != 200 || body.Total == nil {
		a.t.Fatalf("%s: %d %s", path, ans.status, ans.body)
	}
	for _, l := range body.Data {
		lines = append(lines, fmt.Sprintf("%d:%s", l.N, l.T))
	}
	return lines, *body.Total
}

func TestFirewallLog(t *testing.T) {
	t.Parallel()
	c, root := snapshotHost(t)
	const node, vm = "/nodes/pve1/firewall/log", "/nodes/pve1/qemu/100/firewall/log"
	want := func(path, wanted string, count int) {
		t.Helper()
		lines, total := root.logOf(path)
		if got := strings.Join(lines, "|"); got != wanted || total != count {
			t.Errorf("%s: %d %q, want %d %q", path, total, got, count, wanted)
		}
	}
	want(node, "1:unable to open file - No such file or directory", 1)
	want(node+"?since=1", "", 0)
	at := func(second int, who string) string {
		return fmt.Sprintf("%s 6 x 21/Nov/2026:00:00:%02d +0000 DROP: ", who, second)
	}
	noError(t, c.AppendFirewallLog("pve1", at(1, "0")))
	want(vm, "1:no content", 1)
	noError(t, c.AppendFirewallLog("pve1", at(2, "100"), at(3, "1001"), at(4, "100"), "nonsense"))
	want(node+"?limit=2", "1:"+at(1, "0")+"|2:"+at(2, "100"), 5)
	want(node+"?start=4", "5:nonsense", 5)
	want(node+"?start=9", "", 5)
	want(vm, "1:"+at(2, "100")+"|2:"+at(4, "100"), 2)
	want(vm+"?start=1&limit=0", "2:"+at(4, "100"), 2)
	const second = 1795219200 // 21 November 2026
	want(fmt.Sprintf("%s?since=%d&until=%d", node, second+2, second+3), "1:"+at(2, "100")+"|2:"+at(3, "1001"), 2)
	for range 60 {
		noError(t, c.AppendFirewallLog("pve1", at(5, "0")))
	}
	if lines, total := root.logOf(node); len(lines) != 50 || total != 65 {
		t.Errorf("%d of %d lines", len(lines), total)
	}
	if lines, total := root.logOf(node + "?limit=0"); len(lines) != 65 || total != 65 {
		t.Errorf("%d of %d lines", len(lines), total)
	}
	if c.AppendFirewallLog("pve9", "x") == nil {
		t.Error("a node that is not there has a log")
	}
	c.SetRole("Reader", "VM.Audit", "Sys.Audit")
	reader := c.AddToken("reader@pve!tt", false)
	c.Grant("/", "reader@pve", "Reader", true)
	as(t, c, reader).refused("GET", node, "", 403, "Permission check failed (/nodes/pve1, Sys.Syslog)")
	as(t, c, reader).refused("GET", vm, "", 403, "Permission check failed (/vms/100, VM.Console)")
}

func TestFirewallMacros(t *testing.T) {
	t.Parallel()
	c := newHost(t)
	var rows []row
	as(t, c, c.AddToken("nobody@pve!tt", false)).get("/cluster/firewall/macros", &rows)
	if len(rows) != 86 || rowWith(rows, "macro", "HTTPS") == nil {
		t.Errorf("%d macros", len(rows))
	}
}
