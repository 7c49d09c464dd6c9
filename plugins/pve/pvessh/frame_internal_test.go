package pvessh

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// shells are those whose reading of the script is tried: what stands in for /bin/sh, and what may be the login's.
func shells(t testing.TB) [][]string {
	t.Helper()
	var all [][]string
	for _, shell := range [][]string{{"dash", "-c"}, {"bash", "-c"}, {"bash", "--posix", "-c"}, {"busybox", "sh", "-c"}} {
		if _, err := exec.LookPath(shell[0]); err == nil {
			all = append(all, shell)
		}
	}
	if len(all) == 0 {
		t.Fatal("there is no shell")
	}
	return all
}

// through runs a command by the script in a shell, where the shell is the login's, or also what runs the script's words.
func through(t testing.TB, shell []string, inner bool, c hypervisor.NodeCommand) string {
	t.Helper()
	text := script
	if inner { // the words in single quotes, as this shell reads them
		_, text, _ = strings.Cut(script, "'")
		text, _, _ = strings.Cut(text, "'")
	}
	lines, word := frame(c, 30)
	cmd := exec.Command(shell[0], append(append([]string{}, shell[1:]...), text)...)
	cmd.Stdin = bytes.NewReader(lines)
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %.300q", shell, err, output)
	}
	var got bytes.Buffer
	g := newGate(word, &got)
	if _, err := g.Write(output); err != nil || !g.open() {
		t.Fatalf("%v: the word did not come: %.300q", shell, output)
	}
	return got.String()
}

// FuzzArguments holds that every shell makes of the lines the arguments and variables that they were made of.
func FuzzArguments(f *testing.F) {
	for _, text := range []string{"", "a b", "'", `\`, `\0101\c`, "$(id)", "`id`", "\n", "x\n\n",
		"\xff\x80", "ä", "%s", "-n", "=", "!", "*"} {
		f.Add(text, "x"+text)
	}
	f.Fuzz(func(t *testing.T, argument, value string) {
		c := hypervisor.NodeCommand{Program: "/usr/bin/printf", Arguments: []string{`%s\0`, argument, value},
			Environment: []hypervisor.NodeVariable{{Name: "V", Value: plugin.Secret(value)}}}
		shown := hypervisor.NodeCommand{Program: "/usr/bin/env", Arguments: []string{"-0"}, Environment: c.Environment}
		if c.Check() != nil {
			t.Skip("refused")
		}
		for _, shell := range shells(t) {
			for _, inner := range []bool{false, true} {
				if got, want := through(t, shell, inner, c), argument+"\x00"+value+"\x00"; got != want {
					t.Errorf("%v: %q arrived, want %q", shell, got, want)
				}
			}
			if got := through(t, shell, true, shown); !strings.Contains("\x00"+got, "\x00V="+value+"\x00") {
				t.Errorf("%v: the variable %q did not arrive: %q", shell, value, got)
			}
		}
	})
}

// Lines that are cut run nothing, wherever that is.
func TestCutLinesRunNothing(t *testing.T) {
	t.Parallel()
	lines, _ := frame(hypervisor.NodeCommand{Program: "echo", Arguments: []string{"ran"}}, 30)
	for n := range len(lines) - 1 { // without the last line's end it is no line yet
		if n%7 != 0 && n < len(lines)-30 {
			continue
		}
		cmd := exec.Command("sh", "-c", script)
		cmd.Stdin = bytes.NewReader(lines[:n])
		output, err := cmd.Output()
		if err == nil || bytes.Contains(output, []byte("ran")) {
			t.Errorf("after %d of %d bytes: %q, %v", n, len(lines), output, err)
		}
	}
}

// The script is for any shell: one line, of nothing that they read differently between single quotes.
func TestScriptIsPlain(t *testing.T) {
	t.Parallel()
	if strings.Count(script, "'") != 2 || strings.ContainsAny(script, "\\\n!\t") || len(script) > 2000 {
		t.Errorf("the script is %q", script)
	}
}
