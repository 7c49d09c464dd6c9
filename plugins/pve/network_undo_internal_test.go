package pve

import (
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/nodetest"
)

// The script keeps the network's configuration and puts it back, and only where it is still what was staged.
func TestUndoOfNetwork(t *testing.T) {
	t.Parallel()
	m := nodetest.Start(t)
	m.Run("mkdir -p /etc/network /usr/local/sbin /root/undo; cat >/root/undo/script <<'END-OF-UNDO'\n" + undo + "END-OF-UNDO\n" +
		"printf '#!/bin/sh\\ncat /etc/network/interfaces >/root/reloaded\\nexit $(cat /root/code)\\n' >/usr/local/sbin/ifreload; " +
		"chmod 755 /usr/local/sbin/ifreload")
	const keep, back, applied = "cd /root/undo && sh script keep", "cd /root/undo && sh script back",
		"mv /etc/network/interfaces.new /etc/network/interfaces"
	for name, c := range map[string]struct {
		before, between, code string
		says, now, reloaded   string
		fails                 bool
	}{
		"put back":        {between: applied, says: "restor", now: "old", reloaded: "old"},
		"nothing applied": {between: "true", says: "is unchanged", now: "old"},
		"changed since": {between: applied + "; echo other >/etc/network/interfaces", says: "changed by someone else",
			now: "other", fails: true},
		"reload fails":      {between: applied, code: "1", says: "restor", now: "old", reloaded: "old", fails: true},
		"file is gone":      {between: "rm /etc/network/interfaces", says: "changed by someone else", now: "", fails: true},
		"another is staged": {between: applied + "; echo next >/etc/network/interfaces.new", says: "restor", now: "old", reloaded: "old"},
	} {
		code := c.code
		if code == "" {
			code = "0"
		}
		m.Run("rm -f /root/reloaded /root/undo/kept /root/undo/staged; echo " + code + " >/root/code; chmod 640 /root/code; " +
			"echo old >/etc/network/interfaces; chmod 644 /etc/network/interfaces; echo new >/etc/network/interfaces.new")
		m.Run(keep)
		m.Run(c.between)
		said, err := m.Try(t.Context(), back)
		if (err != nil) != c.fails || !strings.Contains(said, c.says) {
			t.Errorf("%s: %q, %v", name, said, err)
		}
		if now := m.Run("cat /etc/network/interfaces 2>/dev/null || true"); now != c.now {
			t.Errorf("%s: the file is %q", name, now)
		}
		if reloaded := m.Run("cat /root/reloaded 2>/dev/null || true"); reloaded != c.reloaded {
			t.Errorf("%s: reloaded with %q", name, reloaded)
		}
		if mode := m.Run("stat -c %a /etc/network/interfaces 2>/dev/null || echo 644"); mode != "644" {
			t.Errorf("%s: the file has the mode %s", name, mode)
		}
	}
	m.Run("rm -f /etc/network/interfaces.new")
	if said, err := m.Try(t.Context(), keep); err == nil {
		t.Errorf("nothing is staged: %q", said)
	}
}
