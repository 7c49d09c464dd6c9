package pvessh

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/hostler/hostler/sdk/hypervisor"
)

// script is the text of every SSH command. SSH passes it to the user's login
// shell, whichever that is, so it is a constant that every shell reads alike:
// it has one single-quoted argument without a single quote, backslash or
// exclamation mark that a shell would treat in its own way.
//
// Everything of the caller arrives on standard input: first the lines of frame,
// then the program's input. No shell parses the lines. "read -r" takes a line
// and printf restores the bytes into a variable. Both are built into the shell,
// so no value appears in the arguments of a process, where other users could
// see it.
//
// The words t, d, a and e carry the limit, the directory, an argument and a
// variable. r starts the program, and only its input follows. Nothing of the
// caller runs before r, so a connection that breaks within the lines has had no
// effect.
//
// Output before the word of r belongs to the login, such as what a .bashrc
// prints; see gate.
const script = `exec /bin/sh -c '` + reader + `' hostler`

// reader is the shell program that reads the lines. It sets PATH itself, since
// a login over SSH can have a short one. It ends the program with "timeout -s
// KILL" from coreutils, so the limit holds even if the connection is lost.
// printf adds an x that is then removed, because $(...) would strip line feeds
// at the end of a value.
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
	// These are the exit codes of the reader if no program was started. They
	// are at the end of the range, where programs rarely return them; in
	// addition the gate shows whether a program began.
	exitCut         = 252 // the lines ended before r
	exitNoDirectory = 253
	exitNoTimeout   = 254
)

// frame returns a command as lines, and the word that precedes the program's
// output. The word is random, so that neither the login nor an earlier program
// can print it in advance.
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

// harmless are the bytes that are sent unchanged. All others are escaped,
// because "read" splits at spaces and printf interprets backslashes.
const harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:,=@+"

// encode appends a value as an argument of printf's %b: each byte that is not
// harmless becomes a backslash, 0 and three octal digits (POSIX printf). It
// works on bytes, so text that is not UTF-8 survives.
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
