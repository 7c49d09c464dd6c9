package processtest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hostler/hostler/internal/waittest"
)

// sitter is somebody at a terminal in which the program runs.
type sitter struct {
	cmd    *exec.Cmd
	screen *os.File
	shown  *waittest.Text
	read   chan struct{}
}

// sits starts the program in a terminal of so many columns.
func (c commandLine) sits(t *testing.T, columns uint16, env []string, words ...string) *sitter {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	p := &sitter{screen: screen, shown: &waittest.Text{}, read: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(bin(t), "hostler"), words...)
	p.cmd.Env, p.cmd.Dir = append(append([]string{}, c.env...), env...), c.dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go func() {
		defer close(p.read)
		buffer := make([]byte, 4096)
		for {
			n, err := screen.Read(buffer)
			_, _ = p.shown.Write(buffer[:n])
			if err != nil { // EIO once the last one has left the terminal
				return
			}
		}
	}()
	return p
}

// sees waits until the terminal has shown a text.
func (p *sitter) sees(t *testing.T, text string) {
	t.Helper()
	waittest.Succeeds(t, "the terminal shows "+text, func() error {
		if !strings.Contains(p.shown.String(), text) {
			return fmt.Errorf("it shows %q", p.shown.String())
		}
		return nil
	})
}

func (p *sitter) types(t *testing.T, text string) {
	t.Helper()
	if _, err := p.screen.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the program, and gives its exit status and all that was shown.
func (p *sitter) ends(t *testing.T) (int, string) {
	t.Helper()
	_ = p.cmd.Wait()
	<-p.read
	return p.cmd.ProcessState.ExitCode(), p.shown.String()
}

// In a terminal the password is not shown, tables fit, the plan is shown before the phrase is asked for, another phrase does nothing, and
// a console is left by a tilde and a point.
func TestCommandLineInATerminal(t *testing.T) {
	t.Parallel()
	cluster := startSim(t, "--scenario", "cluster", "--nodes", "3", "--guests", "24", "--recommended")
	s := startService(t, options{})
	owner := setUp(t, s)
	host := owner.enrol(t, cluster, "lab", "lifecycle", "console")
	c := newCommandLine(t)
	p := c.sits(t, 100, nil, "login", s.Base)
	p.sees(t, "Email: ")
	p.types(t, ownerEmail+"\n")
	p.sees(t, "Password: ")
	p.types(t, ownerPassword+"\n")
	if status, shown := p.ends(t); status != 0 || strings.Contains(shown, ownerPassword) || !strings.Contains(shown, "Logged in") {
		t.Fatalf("logging in: %d %s", status, shown)
	}
	for columns, env := range map[uint16][]string{60: {"TERM=xterm"}, 100: {"TERM=xterm", "NO_COLOR=1"}, 200: {"TERM=dumb"}} {
		status, shown := c.sits(t, columns, env, "vm", "list").ends(t)
		if coloured := strings.Contains(shown, "\x1b["); status != 0 || coloured != (columns == 60) {
			t.Errorf("with %v: %d, colours %v", env, status, coloured)
		}
		for line := range strings.Lines(shown) {
			plain := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "").Replace(line)
			if width := len([]rune(strings.TrimRight(plain, "\r\n"))); width > int(columns) {
				t.Errorf("a line of %d in %d columns: %q", width, columns, plain)
			}
		}
	}
	var stopped []guestView
	owner.must(t, http.StatusOK, http.MethodGet, "/api/v1/vms?status=stopped", nil, &stopped)
	name := stopped[0].Name
	for _, phrase := range []string{"another", name} {
		p = c.sits(t, 120, nil, "vm", "delete", name, "--wait")
		p.sees(t, "Effects")
		p.sees(t, "Type "+name+" to confirm: ")
		p.types(t, phrase+"\n")
		want, there := 0, http.StatusNotFound
		if phrase != name {
			want, there = 14, http.StatusOK
		}
		if status, shown := p.ends(t); status != want {
			t.Fatalf("the phrase %s: %d %s", phrase, status, shown)
		}
		owner.must(t, there, http.MethodGet, fmt.Sprintf("/api/v1/vms/%d", stopped[0].ID), nil, nil)
	}
	app, _ := owner.running(t, host)
	p = c.sits(t, 90, nil, "app", "console", fmt.Sprint(app))
	p.types(t, "echo a ~. inside\r")
	p.sees(t, "a ~. inside\r\na ~. inside")
	p.types(t, "\r~.")
	if status, shown := p.ends(t); status != 0 {
		t.Errorf("the console: %d %s", status, shown)
	}
}
