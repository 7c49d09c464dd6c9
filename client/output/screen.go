package output

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Screen is where a command writes: answers to Out, everything that is about them to Err.
type Screen struct {
	Out, Err io.Writer
	// Columns is the width of the terminal that Out is; zero when it is none.
	Columns int
	// Colours says whether Out may have colours.
	Colours bool
	// ErrTerminal says whether Err is a terminal, which a line of progress can be drawn on, and ErrColumns its width.
	ErrTerminal bool
	ErrColumns  int
	// drawn says that a line of progress stands on Err.
	drawn bool
}

// NewScreen is the process's own. NO_COLOR and a terminal that is dumb switch colours off: https://no-color.org.
func NewScreen() *Screen {
	s := &Screen{Out: os.Stdout, Err: os.Stderr}
	s.Measure()
	s.Colours = s.Columns > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// Measure takes the width of the terminal, which may have changed.
func (s *Screen) Measure() {
	s.Columns = columnsOf(s.Out)
	s.ErrColumns = columnsOf(s.Err)
	s.ErrTerminal = s.ErrColumns > 0
}

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

// Colour of a text.
type Colour string

// The colours, by their numbers at the terminal; readers choose how they look.
const (
	Plain  Colour = ""
	Bold   Colour = "1"
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
)

// Colour gives a clean text a colour, where Out may have one.
func (s *Screen) Colour(c Colour, text string) string {
	if !s.Colours || c == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// Print writes a text that is clean already, but for colours.
func (s *Screen) Print(text string) {
	s.wipe()
	_, _ = io.WriteString(s.Out, text) // nobody is left to be told when it fails
}

// PrintErr is Print for what belongs to a question, and not to the answer.
func (s *Screen) PrintErr(text string) {
	s.wipe()
	_, _ = io.WriteString(s.Err, text)
}

// Say writes a line about what happens to Err.
func (s *Screen) Say(format string, args ...any) {
	s.wipe()
	_, _ = fmt.Fprintln(s.Err, Clean(fmt.Sprintf(format, args...)))
}

// Bar draws how far something has come, a part of one, on Err when that is a terminal; a negative part is not known.
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

// wipe takes the line of progress away.
func (s *Screen) wipe() {
	if s.drawn {
		_, _ = io.WriteString(s.Err, "\r\x1b[K")
		s.drawn = false
	}
}

// Done takes the line of progress away for good.
func (s *Screen) Done() { s.wipe() }

// ClearPage begins a page anew, for a list that is watched.
func (s *Screen) ClearPage() {
	if s.Columns > 0 {
		_, _ = io.WriteString(s.Out, "\x1b[H\x1b[2J")
	}
}
