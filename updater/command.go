package updater

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hostler/hostler/updater/installation"
)

// command is a program that a step runs.
type command struct {
	// as is the system user to run it as; "" for our own.
	as   string
	env  []string
	name string
	args []string
	in   io.Reader
	out  io.Writer
	// terse leaves out of the error what PostgreSQL adds to its message, in which it quotes rows.
	terse bool
}

// maxStderr is how much of a program's output becomes part of an error.
const maxStderr = 2000

// run runs the program and waits for it. Of the updater's environment it gets
// only PATH, because the rest may contain secrets. The end of its output is in
// the error.
func (c command) run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.name, c.args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}, c.env...)
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout = c.in, c.out
	words := &tail{most: maxStderr}
	if c.terse {
		words.prefix = []byte(filepath.Base(c.name) + ": ")
	}
	cmd.Stderr = words
	cmd.WaitDelay = 5 * time.Second
	// The program has its own session: a program of another user must not write
	// to the terminal from which root has started the updater.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	// The children of a program must not outlive it: a forgotten migration
	// would continue during a rollback.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if c.as != "" {
		credential, err := credentialOf(c.as)
		if err != nil {
			return err
		}
		cmd.SysProcAttr.Credential = credential
	}
	err := cmd.Run()
	if cmd.Process != nil {
		// What the program has left running ends with it; it might still use
		// the database.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if text := words.String(); text != "" {
			return fmt.Errorf("%s: %w: %s", c.name, err, text)
		}
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// output is run for a program with a short answer.
func (c command) output(ctx context.Context) (string, error) {
	var out bytes.Buffer
	c.out = &out
	err := c.run(ctx)
	return strings.TrimSpace(out.String()), err
}

// credentialOf gives the user and the group of a system user, with which a
// program is run.
func credentialOf(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("looking for the system user %s: %w", name, err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("the system user %s has an invalid user ID: %w", name, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("the system user %s has an invalid group ID: %w", name, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// tail keeps the end of a text; with a prefix only the lines that begin with
// it, and of these the message.
type tail struct {
	most   int
	prefix []byte
	text   []byte
}

// Write keeps the end of what a program writes. It holds up to twice that, so
// that not every write copies.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > 2*t.most {
		t.text = append([]byte{}, t.text[len(t.text)-t.most:]...)
	}
	return len(p), nil
}

// String returns the text as one printable line.
func (t *tail) String() string {
	text := t.text
	if len(text) > t.most {
		text = text[len(text)-t.most:]
	}
	if len(t.prefix) > 0 {
		var told []byte
		for line := range bytes.Lines(text) {
			if bytes.HasPrefix(line, t.prefix) {
				told = append(told, line...)
			}
		}
		text = told
	}
	return strings.Join(strings.Fields(installation.PrintableText(string(text))), " ")
}
