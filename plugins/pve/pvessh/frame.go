package pvessh

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// script is the text of every command. SSH gives it to the user's shell, whichever that is, to be read as the words of a command; so it is
// a constant, which any shell reads alike: letters that none of them treats otherwise between single quotes, and no single quote in it.
// All that is the caller's comes over the standard input, in lines that frame makes, before what the program reads there. No shell parses
// those: "read -r" takes a line, and printf puts the bytes back, which are a variable's value from then on. Both are built into the shell,
// so that no value stands in the arguments of a process. The words t, d, a and e bring the limit, the directory, an argument and a
// variable, and r starts the program, which nothing follows but its input. Until r has come nothing of the caller's runs, so that a
// connection that breaks within the lines has done nothing.
//
// What stands before the word of r on the outputs is the login's, such as what a .bashrc prints.
const script = `exec /bin/sh -c '` + reader + `' hostler`

// reader is what reads the lines.
const reader = `PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH; unset CDPATH; ` +
	`hostler_x=$(command -v timeout) || exit 254; hostler_t=1; cd /; set --; ` +
	`while IFS=" " read -r hostler_k hostler_n hostler_v; do ` +
	`hostler_v=$(printf "%bx" "$hostler_v"); hostler_v=${hostler_v%x}; ` +
	`case $hostler_k in ` +
	`t) hostler_t=$hostler_v;; ` +
	`d) cd -- "$hostler_v" || exit 253;; ` +
	`a) set -- "$@" "$hostler_v";; ` +
	`e) export "$hostler_n=$hostler_v";; ` +
	`r) echo "$hostler_v $$"; echo "$hostler_v $$" >&2; exec "$hostler_x" -s KILL "$hostler_t" "$@";; ` +
	`esac; done; exit 252`

// How the script ends before a program runs.
const (
	exitCut         = 252 // the lines ended before r
	exitNoDirectory = 253
	exitNoTimeout   = 254
)

// frame is a command in lines, and the word that stands before the program's output.
func frame(c hypervisor.NodeCommand, seconds int64) (lines []byte, word string) {
	word = "hostler-" + rand.Text()
	var b []byte
	line := func(kind, name, value string) {
		b = append(b, kind...)
		b = append(b, ' ')
		b = append(b, name...)
		b = append(b, ' ')
		b = encode(b, value)
		b = append(b, '\n')
	}
	line("t", "-", strconv.FormatInt(seconds, 10))
	if c.Directory != "" {
		line("d", "-", c.Directory)
	}
	line("a", "-", c.Program)
	for _, argument := range c.Arguments {
		line("a", "-", argument)
	}
	for _, v := range c.Environment {
		line("e", v.Name, string(v.Value))
	}
	line("r", "-", word)
	return b, word
}

// harmless are the bytes that stand for themselves in a line.
const harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:,=@+"

// encode writes a value as the argument of printf's %b: every byte that is not harmless as a backslash, 0 and three octal digits (POSIX
// printf).
func encode(b []byte, value string) []byte {
	for i := range len(value) {
		if c := value[i]; strings.IndexByte(harmless, c) >= 0 {
			b = append(b, c)
		} else {
			b = fmt.Appendf(b, `\0%03o`, c)
		}
	}
	return b
}
