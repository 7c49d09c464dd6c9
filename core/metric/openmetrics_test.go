package metric_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
)

func scrape(t testing.TB, d *db.DB, visible identity.VisibleTeams) string {
	t.Helper()
	var text bytes.Buffer
	if err := metric.WriteGuests(t.Context(), d, &text, visible); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

var (
	metadata = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$`)
	labelled = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\} (\S+)$`)
)

// hold holds a text against the rules of OpenMetrics 1.0 and gives its samples, value by name and labels.
func hold(t *testing.T, text string) map[string]string {
	t.Helper()
	lines := strings.Split(text, "\n")
	if n := len(lines); n < 2 || lines[n-1] != "" || lines[n-2] != "# EOF" {
		t.Fatalf("it does not end in # EOF and a line end:\n%s", text)
	}
	samples := map[string]string{}
	kinds, family := map[string]string{}, ""
	suffix := map[string]string{"gauge": "", "counter": "_total", "info": "_info"}
	for _, line := range lines[:len(lines)-2] {
		if m := metadata.FindStringSubmatch(line); m != nil {
			switch {
			case m[1] == "TYPE" && kinds[m[2]] != "":
				t.Errorf("%s comes twice", m[2])
			case m[1] == "TYPE":
				family, kinds[m[2]] = m[2], m[3]
			case m[2] != family:
				t.Errorf("%q stands in the family %s", line, family)
			case m[1] == "UNIT" && !strings.HasSuffix(m[2], "_"+m[3]):
				t.Errorf("%s does not end in its unit %s", m[2], m[3])
			}
			continue
		}
		m := labelled.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("no sample: %q", line)
			continue
		}
		end, known := suffix[kinds[family]]
		if !known || m[1] != family+end {
			t.Errorf("%s stands in the family %s of type %s", m[1], family, kinds[family])
		}
		if _, err := strconv.ParseFloat(m[3], 64); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if samples[m[1]+m[2]] != "" {
			t.Errorf("twice: %s", line)
		}
		samples[m[1]+m[2]] = m[3]
	}
	return samples
}

func TestGuestsAsOpenMetrics(t *testing.T) {
	t.Parallel()
	d := charted(t)
	dbtest.Exec(t, d, `UPDATE clusters SET figures_at = now(), seen_at = now()`)
	dbtest.Exec(t, d, `UPDATE guests SET cpu = 0.25, cpus = 4, memory = 9007199254740993, net_in = 12, uptime = 60, name = E'a"\\\nb\u00e9'
		WHERE id = 1`)
	dbtest.Exec(t, d, "UPDATE guests SET status = 'stopped', cpu = 0 WHERE id = 2")
	dbtest.Exec(t, d, "UPDATE guests SET cpu = 1.5e-7 WHERE id = 3")
	samples := hold(t, scrape(t, d, everything))
	first := `id="1",kind="vm",name="a\"\\\nbé",cluster="one"`
	for series, want := range map[string]string{
		"hostler_guest_running" + first: "1", "hostler_guest_cpu_usage_ratio" + first: "0.25", "hostler_guest_cpus" + first: "4",
		"hostler_guest_memory_used_bytes" + first: "9007199254740993", "hostler_guest_network_receive_bytes_total" + first: "12",
		"hostler_guest_uptime_seconds" + first:                                                                               "60",
		"hostler_guest_info" + first + `,host="a",node="n1",ref="100",app=""`:                                                "1",
		`hostler_guest_info` + `id="3",kind="container",name="files",cluster="two",host="b",node="m1",ref="101",app="files"`: "1",
		`hostler_guest_running` + `id="2",kind="vm",name="db",cluster="two"`:                                                 "0",
		`hostler_guest_cpu_usage_ratio` + `id="3",kind="container",name="files",cluster="two"`:                               "1.5e-07",
		// what does not run uses nothing that is measured, and what is not known is not zero
		`hostler_guest_cpu_usage_ratio` + `id="2",kind="vm",name="db",cluster="two"`: "", "hostler_guest_disk_read_bytes_total" + first: "",
	} {
		if got := samples[series]; got != want {
			t.Errorf("%s: %q, want %q", series, got, want)
		}
	}
	for _, series := range []struct {
		visible identity.VisibleTeams
		n       int
	}{{identity.VisibleTeams{Teams: []int64{2}}, 2}, {identity.VisibleTeams{}, 0}, {everything, 3}} {
		if got := strings.Count(scrape(t, d, series.visible), "\nhostler_guest_info{"); got != series.n {
			t.Errorf("%+v: %d guests, want %d", series.visible, got, series.n)
		}
	}
	// A host that has not told for a while has no figures, rather than its last ones for ever.
	dbtest.Exec(t, d, "UPDATE clusters SET figures_at = now() - interval '10 minutes' WHERE id = 1")
	if text := scrape(t, d, everything); strings.Contains(text, `id="1"`) || !strings.Contains(text, `id="2"`) {
		t.Errorf("stale:\n%s", text)
	}
	dbtest.Exec(t, d, "TRUNCATE guests CASCADE")
	if samples := hold(t, scrape(t, d, everything)); len(samples) != 0 {
		t.Errorf("no guests: %v", samples)
	}
}

// Many guests are written in pieces, none twice and none left out.
func TestManyGuestsAsOpenMetrics(t *testing.T) {
	t.Parallel()
	d := charted(t)
	dbtest.Exec(t, d, `INSERT INTO guests (cluster_id, host_id, kind, vmid, ref, node, name, status, cpu)
		SELECT 1, 1, 'vm', i, i, 'n1', 'vm-' || i, 'running', 0.5 FROM generate_series(1000, 3999) i`)
	dbtest.Exec(t, d, "UPDATE clusters SET figures_at = now()")
	pieces := &pieces{}
	if err := metric.WriteGuests(t.Context(), d, pieces, everything); err != nil {
		t.Fatal(err)
	}
	if pieces.most > 100<<10 {
		t.Errorf("a piece of %d bytes", pieces.most)
	}
	samples := hold(t, pieces.text.String())
	n := 0
	for series := range samples {
		if strings.HasPrefix(series, "hostler_guest_cpu_usage_ratio") {
			n++
		}
	}
	if n != 3000 {
		t.Errorf("%d guests have a CPU", n)
	}
}

type pieces struct {
	text bytes.Buffer
	most int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.most = max(p.most, len(b))
	return p.text.Write(b)
}
