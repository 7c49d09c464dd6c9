package output_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hostler/hostler/client/output"
)

// hostile are texts that act on terminals, or turn what stands beside them around.
var hostile = []string{
	"\x1b[2J", "\x1b]0;owned\x07", "\u009b31m", "a\rb", "\x7f", "\u202egnp", "\u2066x", "bad\xff\xfe", "\x00", "\u061c", "\u2028",
}

func acts(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x061c || r == 0x2028
	})
}

// Nothing that an answer holds acts on the terminal: in a table, by fields, as JSON, as jq chooses it, and in a line of progress.
func TestNothingActsOnTheTerminal(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		body, err := json.Marshal([]map[string]any{
			{"name": text, "status": text, text: text, "list": []string{text}, "more": map[string]string{text: text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var out, progress bytes.Buffer
		s := &output.Screen{Out: &out, Err: &progress, Columns: 60}
		value, err := output.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		s.Table(output.Columns("name status list more"), value.([]any))
		s.Fields(value)
		s.Say("job of %s", text)
		pretty, err := output.JSON(body, true)
		if err != nil {
			t.Fatal(err)
		}
		query, err := output.Compile(".[] | .name, .list, {(.name): 1}")
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := query.Run(t.Context(), body, true)
		if err != nil {
			t.Fatal(err)
		}
		for where, shown := range map[string]string{
			"table": out.String(), "said": progress.String(), "json": string(pretty), "jq": string(chosen),
		} {
			if acts(shown) {
				t.Errorf("%s: %q acts: %q", where, text, shown)
			}
		}
		var again []map[string]any
		if err := json.Unmarshal(pretty, &again); err != nil || again[0]["name"] != text && utf8.ValidString(text) {
			t.Errorf("%q came through JSON as %q: %v", text, again[0]["name"], err)
		}
	}
}

// A table has no more columns than the terminal, whatever is in it; elsewhere nothing is cut.
func TestTableFits(t *testing.T) {
	t.Parallel()
	row := map[string]any{"name": strings.Repeat("long ", 30), "note": strings.Repeat("字", 50), "id": 7, "memory_bytes": 3 << 30}
	body, err := json.Marshal([]any{row, map[string]any{"name": "short"}})
	if err != nil {
		t.Fatal(err)
	}
	value, err := output.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{0, 20, 40, 80, 500} {
		var out bytes.Buffer
		(&output.Screen{Out: &out, Columns: columns}).Table(output.Columns("id name note memory_bytes"), value.([]any))
		for line := range strings.Lines(out.String()) {
			if w := output.Width(strings.TrimRight(line, "\n")); columns > 0 && w > columns {
				t.Errorf("a line of %d on a terminal of %d: %q", w, columns, line)
			}
		}
		if columns == 0 && !strings.Contains(out.String(), strings.Repeat("字", 50)) {
			t.Errorf("something was cut for a program: %s", out.String())
		}
		if !strings.HasPrefix(out.String(), "ID") || columns > 60 && !strings.Contains(out.String(), "3.0 GiB") {
			t.Errorf("the table is %q", out.String())
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name, json, want string
	}{
		{"memory_bytes", "1536", "1.5 KiB"}, {"cpu", "0.256", "26 %"}, {"uptime_s", "7300", "2 h"},
		{"id", "12345678901234567890", "12345678901234567890"},

		{"seen_at", `"2030-01-02T03:03:00Z"`, "65 s ago"}, {"next_run_at", `"2030-01-02T08:04:06Z"`, "in 5 h"},
		{"name", `"2030-01-02T03:03:00Z"`, "2030-01-02T03:03:00Z"},
		{"x", "null", "-"}, {"x", "true", "yes"}, {"tags", `["a","b"]`, "a, b"},
		{"by", `{"id":1,"email":"a@b"}`, "a@b"}, {"labels", `{"k":"v"}`, "k=v"},
	} {
		value, err := output.Parse([]byte(tt.json))
		if err != nil {
			t.Fatal(err)
		}
		if got := output.Show(tt.name, value, now); got != tt.want {
			t.Errorf("%s %s is %q, not %q", tt.name, tt.json, got, tt.want)
		}
	}
}

// What is no JSON, or nested without an end, is an error and no crash.
func TestBadJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "<html>", "{", "[1,", "[] []", strings.Repeat("[", 100000)} {
		if _, err := output.Parse([]byte(text)); err == nil {
			t.Errorf("%.20q was read", text)
		}
		if _, err := output.JSON([]byte(text), false); err == nil {
			t.Errorf("%.20q was written", text)
		}
	}
}

// Whole numbers keep their digits through jq, texts stand as they are, and a program can read nothing of the machine.
func TestQuery(t *testing.T) {
	t.Setenv("HOSTLER_CANARY", "canary")
	for program, want := range map[string]string{
		".id": "9007199254740993\n", ".big": "123456789012345678901234567890\n", ".name": "web\n", ".list[]": "1\n2.5\n", "env|length": "0\n",
		"$ENV.HOSTLER_CANARY": "null\n", "empty": "", "{a:.id}": "{\"a\":9007199254740993}\n",
	} {
		q, err := output.Compile(program)
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		got, err := q.Run(t.Context(), []byte(`{"id":9007199254740993,"big":123456789012345678901234567890,"name":"web","list":[1,2.5]}`), false)
		if err != nil || string(got) != want {
			t.Errorf("%s gives %q: %v", program, got, err)
		}
	}
	for _, program := range []string{".[", "input", "nope"} {
		q, err := output.Compile(program)
		if err == nil {
			_, err = q.Run(t.Context(), []byte("{}"), false)
		}
		if err == nil {
			t.Errorf("%s was taken", program)
		}
	}
}
