package hypervisor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

func TestTerminalLines(t *testing.T) {
	t.Parallel()
	for given, want := range map[string][]string{
		"":                                    {""},
		"a\r\nb\rc\n":                         {"a", "b", "c", ""},
		"  a\tb  ":                            {"a b"},
		"\x1b[1;31mred\x1b[0m\x1b[K":          {"red"},
		"\x1b]0;root@node: ~\x07x":            {"x"},
		"\x1b]8;;https://a.example\x1b\\link": {"link"},
		"\x1b]0;never ends\nx":                {"", "x"},
		"\x1b(Bx\x1b=\u009b2Jy\x1b":           {"xy"},
		"\x1b[":                               {""},
		"│ a │ b │":                           {"a b"},
		"| a | b |":                           {"a b"},
		"a|b":                                 {"a|b"},
		"┌──┬──┐\n├──┼──┤\n+--+==+": {"", "", ""},
		"> > a":                       {"a"},
		"│ > a │":                     {"a"},
		"a\u00a0b\u200b\ufeff\u2011c": {"a b-c"},
		"a\x00b\x08c":                 {"abc"},
		"\xff\xfe":                    {"\ufffd\ufffd"},
		"Ärger 日本 │":                  {"Ärger 日本"},
		"----":                        {""}, "-- a --": {"-- a --"},
	} {
		if got := hypervisor.TerminalLines(plugin.Secret(given)); !slices.Equal(got, want) {
			t.Errorf("%q became %q, want %q", given, got, want)
		}
	}
}

func FuzzTerminalLines(f *testing.F) {
	f.Add("\x1b[1m│ > a │\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := hypervisor.TerminalLines(plugin.Secret(text))
		for _, line := range lines {
			if strings.TrimSpace(line) != line || strings.ContainsAny(line, "\n\r\x1b\x00\t") {
				t.Fatalf("%q became %q", text, line)
			}
		}
		if again := hypervisor.TerminalLines(plugin.Secret(strings.Join(lines, "\n"))); len(again) != len(lines) {
			t.Fatalf("%d lines became %d", len(lines), len(again))
		}
	})
}
