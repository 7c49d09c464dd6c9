package output

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Screen is where a command writes. Results go to Out; messages, questions and
// progress go to Err, so that a program that reads Out gets nothing else. A
// Screen is not safe for concurrent use: it tracks whether a line of progress
// is visible.
type Screen struct {
	// Out gets results, and Err gets everything else.
	Out, Err io.Writer
	// Columns is the width of the terminal that Out is connected to. It is zero
	// if Out is not a terminal; then tables are not cut and texts are not
	// cleaned for a terminal.
	Columns int
	// Colours reports whether colors may be written to Out.
	Colours bool
	// ErrTerminal reports whether Err is a terminal. Only then Bar draws a line
	// of progress, and questions are asked. ErrColumns is its width, or zero.
	ErrTerminal bool
	ErrColumns  int
	// drawn reports whether a line of progress is visible on Err. The next
	// output must erase it first.
	drawn bool
}

// NewScreen returns the screen of the process. Colors are off if standard
// output is not a terminal, if NO_COLOR is set to anything
// (https://no-color.org) or if TERM is dumb.
func NewScreen() *Screen {
	s := &Screen{Out: os.Stdout, Err: os.Stderr}
	s.Measure()
	s.Colours = s.Columns > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// Measure reads the widths of the terminals again, because the user may have
// resized the window. --watch calls it before each refresh.
func (s *Screen) Measure() {
	s.Columns = columnsOf(s.Out)
	s.ErrColumns = columnsOf(s.Err)
	s.ErrTerminal = s.ErrColumns > 0
}

// columnsOf returns the width of the terminal behind a writer, or zero if it is
// not a terminal. A terminal that does not report a width, such as a serial
// console, counts as 80 columns wide.
func columnsOf(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
		return columns
	}
	return 80
}

// Colour is a color or style of a text, as the parameter of the control
// sequence "select graphic rendition" (ECMA-48).
type Colour string

// The colours, by their numbers at the terminal; readers choose how they look.
const (
	// The basic colors have no fixed shade: the user's terminal theme decides
	// how they look, so they are readable on light and dark backgrounds.
	Plain  Colour = ""
	Bold   Colour = "1"
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
)

// Colour returns the text in a color, or unchanged if Out must not have colors.
// The text must be clean already, because Colour adds escape sequences that
// Clean would remove. Measure the width of a text before coloring it.
func (s *Screen) Colour(c Colour, text string) string {
	if !s.Colours || c == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// Print writes a text to Out without changes. The caller has cleaned the text;
// only colors of Colour may remain in it. Print erases a visible line of
// progress first. It ignores errors: when standard output is closed, nobody is
// left to tell.
func (s *Screen) Print(text string) {
	s.wipe()
	_, _ = io.WriteString(s.Out, text) // nobody is left to be told when it fails
}

// PrintErr is Print for Err. It is for text that belongs to a question, such as
// a plan to confirm, and so must not mix with the result.
func (s *Screen) PrintErr(text string) {
	s.wipe()
	_, _ = io.WriteString(s.Err, text)
}

// Say writes one message to Err. It cleans the formatted text, so arguments may
// come from the service.
func (s *Screen) Say(format string, args ...any) {
	s.wipe()
	_, _ = fmt.Fprintln(s.Err, Clean(fmt.Sprintf(format, args...)))
}

// Bar draws a line of progress on Err, in place of the previous one. part is
// between 0 and 1; a negative part means that the progress is unknown, and
// draws an empty bar without a percentage. Bar writes nothing if Err is not a
// terminal, so that log files do not fill with progress. It leaves the last
// column free, because some terminals wrap a line that fills it.
func (s *Screen) Bar(part float64, text string) {
	if !s.ErrTerminal {
		return
	}
	const cells = 20
	bar := strings.Repeat("·", cells)
	percent := "   "
	if part >= 0 {
		part = min(part, 1)
		full := int(part * cells)
		bar = strings.Repeat("█", full) + strings.Repeat("·", cells-full)
		percent = fmt.Sprintf("%3.0f", part*100) + "%"
	}
	line := Truncate(bar+" "+percent+"  "+CleanLine(text), s.ErrColumns-1)
	_, _ = io.WriteString(s.Err, "\r\x1b[K"+line)
	s.drawn = true
}

// wipe erases the line of progress: it returns to the first column and clears
// to the end of the line.
func (s *Screen) wipe() {
	if s.drawn {
		_, _ = io.WriteString(s.Err, "\r\x1b[K")
		s.drawn = false
	}
}

// Done erases the line of progress at the end of a transfer or a job.
func (s *Screen) Done() { s.wipe() }

// ClearPage moves the cursor to the top left and clears the screen before a
// list of --watch is shown again. It does nothing if Out is not a terminal, so
// that a pipe gets one list after the other.
func (s *Screen) ClearPage() {
	if s.Columns > 0 {
		_, _ = io.WriteString(s.Out, "\x1b[H\x1b[2J")
	}
}
