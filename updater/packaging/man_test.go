package packaging

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
)

// help asks a built program what it takes, and what its commands take. Keys are commands such as "keys rotate"; "" is the
// program itself.
func help(t *testing.T, program string, words ...string) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, append(words, "--help")...).Output()
	if err != nil {
		t.Fatalf("%v --help: %v", words, err)
	}
	taken := map[string][]string{}
	var flags []string
	section, leaf := "", true
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimRight(line, "\n"); strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " ") {
			section = line
			continue
		}
		if !strings.HasPrefix(line, " ") {
			continue
		}
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case section == "Flags:" && word != "":
			for _, flag := range flagName.FindAllString(strings.SplitN(strings.TrimSpace(line), "   ", 2)[0], -1) {
				flags = append(flags, strings.TrimSpace(flag))
			}
		case section == "Available Commands:" && word == "completion":
			taken[word] = nil // its own commands are shells
		case section == "Available Commands:" && word != "" && word != "help":
			leaf = false
			maps.Copy(taken, help(t, program, append(slices.Clone(words), word)...))
		}
	}
	if leaf || len(words) == 0 {
		if len(words) > 0 { // every command has it; the page says so once
			flags = slices.DeleteFunc(flags, func(f string) bool { return f == "--help" })
		}
		taken[strings.Join(words, " ")] = flags
	}
	return taken
}

var flagName = regexp.MustCompile(`--[a-z][a-z-]*`)

// documented is what a page says in the same form.
func documented(t *testing.T, page string) map[string][]string {
	t.Helper()
	taken := map[string][]string{}
	section, command := "", ""
	for line := range strings.Lines(read(t, page)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), `\-`, "-")
		if name, ok := strings.CutPrefix(line, ".SH "); ok {
			section, command = name, ""
		}
		if name, ok := strings.CutPrefix(line, ".SS "); ok {
			command, _ = strconv.Unquote(name)
			taken[command] = nil
		}
		if (section == "COMMANDS" || section == "OPTIONS") && strings.HasPrefix(line, ".B") && strings.Contains(line, "--") &&
			!strings.Contains(line, "systemctl") {
			taken[command] = append(taken[command], flagName.FindAllString(line, -1)...)
		}
	}
	return taken
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// build makes a program from what is here now.
func build(t *testing.T, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	if err := programtest.Build(t.Context(), "", program, "../../cmd/"+name); err != nil {
		t.Fatal(err)
	}
	return program
}

// Every command and option is in its page, and none that is gone.
func TestPagesTellWhatTheProgramsTake(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hostlerd", "hostler-updater"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have, says := help(t, build(t, name)), documented(t, "man/"+name+".8")
			for _, m := range []map[string][]string{have, says} {
				for command := range m {
					slices.Sort(m[command])
				}
			}
			for command, flags := range have {
				if told, ok := says[command]; !ok || !slices.Equal(told, flags) {
					t.Errorf("%q takes %q, and the page says %q", command, flags, told)
				}
			}
			for command := range says {
				if _, ok := have[command]; !ok {
					t.Errorf("the page tells of %q, which is gone", command)
				}
			}
		})
	}
}

// Every option of the service is a variable, and the page of the configuration has them all.
func TestPageOfVariables(t *testing.T) {
	t.Parallel()
	var want []string
	for _, flag := range help(t, build(t, "hostlerd"))[""] {
		if flag != "--help" {
			want = append(want, "HOSTLER_"+strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_")))
		}
	}
	var got []string
	text := read(t, "man/hostlerd.env.5")
	for line := range strings.Lines(text[strings.Index(text, ".SH VARIABLES"):]) {
		if strings.HasPrefix(line, ".B") {
			got = append(got, regexp.MustCompile(`HOSTLER_[A-Z_]+`).FindAllString(line, -1)...)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the page has %q, the program %q", got, want)
	}
}

// The names of the updater's configuration are those of its structs.
func TestPageOfTheUpdatersConfiguration(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../installation/config.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			tag, _ := strconv.Unquote(field.Tag.Value)
			want = append(want, reflect.StructTag(tag).Get("json"))
		}
		return true
	})
	text := read(t, "man/hostler-updater.json.5")
	text = text[strings.Index(text, ".SH NAMES"):strings.Index(text, ".SH EXAMPLE")]
	var got []string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i > 0 && lines[i-1] == ".TP" {
			got = append(got, regexp.MustCompile(`[a-z]+(_[a-z]+)*`).FindAllString(strings.TrimLeft(line, ".BR "), -1)...)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the page has %q, the configuration %q", got, want)
	}
}
