package pve

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hostler/hostler/sdk/firewall"
)

var _ firewall.LogReader = (*Firewall)(nil)

// Log implements firewall.LogReader. The log of a node needs Sys.Syslog on the
// node, and that of a guest VM.Console on the guest, which the role for
// consoles has. The usual role for monitoring has neither.
func (f *Firewall) Log(ctx context.Context, scope firewall.Scope, query firewall.LogQuery) (firewall.Log, error) {
	at, err := placeOf(scope, "log")
	if err != nil {
		return firewall.Log{}, err
	}
	if scope.Kind == firewall.ClusterScope {
		return firewall.Log{}, lackingAt(scope.Kind)
	}
	if err := query.Check(); err != nil {
		return firewall.Log{}, err
	}
	times := url.Values{}
	for name, bound := range map[string]time.Time{"since": query.Since, "until": query.Until} {
		switch second := bound.Unix(); {
		case bound.IsZero():
		case second > 0:
			times.Set(name, strconv.FormatInt(second, 10))
		case name == "until": // nothing was written then, and the hypervisor takes 0 for no bound
			return firewall.Log{}, nil
		}
	}
	rows, total, _, err := f.host.logRows(ctx, at.path, query.Start, query.Lines(), times)
	if err != nil {
		return firewall.Log{}, firewallError(f.host.explainAway(ctx, at.node, err))
	}
	log := firewall.Log{Total: total}
	for _, row := range rows[:min(len(rows), query.Lines())] {
		text := string(row.Text)
		line := firewall.LogLine{N: int(row.N.N), Text: text, Entry: logEntry(text)}
		if len(text) > firewall.MaxLogLine {
			line.Text = strings.ToValidUTF8(text[:firewall.MaxLogLine], "")
		}
		log.Lines = append(log.Lines, line)
	}
	return log, nil
}
