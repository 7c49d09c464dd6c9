package firewalltest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/firewall"
	"github.com/hostler/hostler/sdk/plugin"
)

// log tests LogReader: windows of lines, and periods with a resolution of one
// second. A scope that never wrote a line has an empty log; that is not an
// error. Total may be -1 if the backend cannot count without reading
// everything.
func (s *suite) log(t *testing.T) {
	lacks[firewall.LogReader](t, s)
	reader := func(t *testing.T) firewall.LogReader {
		return open[firewall.LogReader](t, s, s.Target(t, endpoint.Monitoring))
	}
	s.run(t, "in windows", func(t *testing.T, ctx context.Context) {
		if s.Log == nil {
			t.Skip("no hook Log")
		}
		for _, log := range s.Log(t) {
			all := log.Lines
			for _, window := range []struct {
				query firewall.LogQuery
				want  []firewall.LogLine
			}{
				{firewall.LogQuery{}, all}, {firewall.LogQuery{Limit: 1 << 30}, all}, {firewall.LogQuery{Start: 1}, all[1:]},
				{firewall.LogQuery{Limit: 2}, all[:2]}, {firewall.LogQuery{Start: 1, Limit: 1}, all[1:2]},
				{firewall.LogQuery{Start: len(all)}, nil}, {firewall.LogQuery{Start: 1 << 30}, nil},
			} {
				got, err := reader(t).Log(ctx, log.Scope, window.query)
				if err != nil || len(got.Lines)+len(window.want) > 0 && !reflect.DeepEqual(got.Lines, window.want) {
					t.Errorf("%+v: lines are\n%+v, %v, want\n%+v", window.query, got.Lines, err, window.want)
				}
				if got.Total != -1 && got.Total != len(all) {
					t.Errorf("%+v: the total is %d, want %d", window.query, got.Total, len(all))
				}
			}
		}
	})
	s.run(t, "of a time", func(t *testing.T, ctx context.Context) {
		if s.Log == nil {
			t.Skip("no hook Log")
		}
		for _, log := range s.Log(t) {
			entries := 0
			for _, line := range log.Lines {
				if line.Entry == nil {
					continue
				}
				entries++
				at := line.Entry.Time
				got, err := reader(t).Log(ctx, log.Scope, firewall.LogQuery{Since: at, Until: at})
				must(t, "reading", err)
				found := false
				for _, l := range got.Lines {
					found = found || l.Text == line.Text
					if l.Entry != nil && l.Entry.Time.Truncate(time.Second) != at.Truncate(time.Second) {
						t.Errorf("%s has the line %q", at, l.Text)
					}
				}
				if !found {
					t.Errorf("%s does not have the line %q", at, line.Text)
				}
			}
			if entries == 0 {
				t.Errorf("%+v: no line was parsed", log.Scope)
			}
		}
	})
	eachScope[firewall.LogReader](t, s, "of a scope that never wrote", func(t *testing.T, ctx context.Context, g ground) {
		log, err := reads[firewall.LogReader](t, g).Log(ctx, g.Scope, firewall.LogQuery{})
		if err != nil || len(log.Lines) != 0 {
			t.Errorf("lines are %+v, %v", log.Lines, err)
		}
		for field, query := range map[string]firewall.LogQuery{"start": {Start: -1}, "limit": {Limit: -1}} {
			_, err := reads[firewall.LogReader](t, g).Log(ctx, g.Scope, query)
			wantField(t, field, err, plugin.Invalid, field)
		}
	})
}
