package service_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/metric"
	"github.com/hostler/hostler/core/service"
)

// dashboard is what a test reads of docs/grafana/hostler.json.
type dashboard struct {
	Panels []struct {
		Type, Title string
		Targets     []struct{ Expr string }
	}
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
}

// expressions are all of PromQL that it has, with values in the place of Grafana's variables.
func (d *dashboard) expressions(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", p.Title)
		}
	}
	variables := []string{"$__rate_interval", "5m"}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			selector := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(v.Definition)
			if selector == nil {
				t.Errorf("the variable %s asks for %q", v.Name, v.Definition)
				continue
			}
			all = append(all, "count by ("+selector[2]+") ("+selector[1]+")")
		}
		variables = append(variables, "$"+v.Name, ".*")
	}
	for i := range all {
		if all[i] = strings.NewReplacer(variables...).Replace(all[i]); strings.Contains(all[i], "$") {
			t.Errorf("a variable is not there: %s", all[i])
		}
	}
	return all
}

var (
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	matchers = regexp.MustCompile(`\{[^}]*\}`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	span     = regexp.MustCompile(`\[[^\]]*\]`)
	function = regexp.MustCompile(`\b[a-z_0-9]+\s*\(`)
	word     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
)

// namesIn are the figures and the labels of an expression.
func namesIn(expression string) (figures, labels []string) {
	expression = quoted.ReplaceAllString(expression, "")
	for _, part := range append(matchers.FindAllString(expression, -1), grouping.FindAllString(expression, -1)...) {
		_, inner, _ := strings.Cut(strings.ReplaceAll(part, "{", "("), "(")
		labels = append(labels, word.FindAllString(inner, -1)...)
	}
	for _, part := range []*regexp.Regexp{matchers, grouping, span, function} {
		expression = part.ReplaceAllString(expression, " ")
	}
	for _, name := range word.FindAllString(expression, -1) {
		if !slices.Contains([]string{"and", "or", "unless", "bool", "offset"}, name) {
			figures = append(figures, name)
		}
	}
	return figures, labels
}

// given are the names of all series that the service gives, and of their labels.
func given(t *testing.T) (series, labels map[string]bool) {
	t.Helper()
	series, labels = map[string]bool{}, map[string]bool{"job": true, "instance": true, "le": true}
	name := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	for _, desc := range service.Figures() {
		found := name.FindStringSubmatch(desc.String())
		if found == nil {
			t.Fatalf("%s has no name", desc)
		}
		series[found[1]] = true
		if strings.HasSuffix(found[1], "_duration_seconds") {
			series[found[1]+"_bucket"], series[found[1]+"_count"], series[found[1]+"_sum"] = true, true, true
		}
		for _, label := range word.FindAllString(found[2], -1) {
			labels[label] = true
		}
	}
	var page bytes.Buffer
	if err := metric.WriteGuests(t.Context(), dbtest.New(t), &page, identity.VisibleTeams{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, family := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(page.String(), -1) {
		series[family[1]+map[string]string{"info": "_info", "counter": "_total"}[family[2]]] = true
	}
	for _, label := range []string{"id", "kind", "name", "cluster", "host", "node", "ref", "app"} {
		labels[label] = true
	}
	return series, labels
}

func TestDashboardHasFiguresThatAreThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/grafana/hostler.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	series, labels := given(t)
	used := map[string]bool{}
	expressions := d.expressions(t)
	for _, expression := range expressions {
		figures, of := namesIn(expression)
		if len(figures) == 0 {
			t.Errorf("no figure is in %s", expression)
		}
		for _, name := range figures {
			if used[name] = true; !series[name] {
				t.Errorf("the service gives no %s: %s", name, expression)
			}
		}
		for _, name := range of {
			if !labels[name] {
				t.Errorf("nothing has the label %s: %s", name, expression)
			}
		}
	}
	for name := range series {
		if base := strings.TrimSuffix(name, "_sum"); strings.HasPrefix(name, "hostler_") && !strings.HasPrefix(name, "hostler_guest_") &&
			!used[name] && !used[base+"_count"] && !used[name+"_count"] {
			t.Errorf("%s is on no panel", name)
		}
	}
	parses(t, expressions)
}

// parses has Prometheus's own tool read the expressions, where it is installed.
func parses(t *testing.T, expressions []string) {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("promtool is not installed: the expressions are read by names alone")
		return
	}
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	rules := []rule{}
	for i, expression := range expressions {
		rules = append(rules, rule{"panel:" + strings.Repeat("x", i+1), expression})
	}
	// YAML takes JSON.
	file, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), tool, "check", "rules", "--lint=none", path).CombinedOutput(); err != nil {
		t.Errorf("prometheus does not take an expression: %v %s", err, said)
	}
}

// The test above sees a name that is none, wherever it stands.
func TestNamesInExpressions(t *testing.T) {
	t.Parallel()
	figures, labels := namesIn(`topk(10, sum by (le, op) (rate(a_b_total{x="y{}",z=~"\"q"}[5m])) / (c > 0)) or vector(0) unless on (k) d`)
	if got := strings.Join(figures, " "); got != "a_b_total c d" {
		t.Errorf("figures %s", got)
	}
	if got := strings.Join(labels, " "); got != "x z le op k" {
		t.Errorf("labels %s", got)
	}
}
