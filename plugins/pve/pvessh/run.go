package pvessh

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/crypto/ssh"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

const (
	// longest is the limit of a command without a limit if its caller has no
	// deadline either.
	longest = time.Hour
	// afterLimit is how long after a program's limit the connection is still
	// used: the machine kills the program at the limit and then reports its
	// end.
	afterLimit = 10 * time.Second
	// afterEnd is how long outputs are read after the program ended, if a
	// background process that it started keeps them open.
	afterEnd = 5 * time.Second
)

// CheckLogin implements hypervisor.NodeExecutor. It accepts any host key if
// none is pinned, and returns the key for a person to compare. It runs true and
// id to make sure that the login can run programs; a key with a forced command
// fails here.
func (m *Machine) CheckLogin(ctx context.Context) (hypervisor.NodeLogin, error) {
	c, err := m.connect(ctx, true)
	if err != nil {
		return hypervisor.NodeLogin{}, err
	}
	defer c.close()
	var id strings.Builder
	result, err := c.run(ctx, hypervisor.NodeCommand{Program: "true"}, hypervisor.NodeStreams{})
	if err == nil && result.OK() {
		result, err = c.run(ctx, hypervisor.NodeCommand{Program: "id", Arguments: []string{"-u"}}, hypervisor.NodeStreams{Output: &id})
	}
	if err != nil {
		return hypervisor.NodeLogin{}, err
	}
	user, bad := strconv.Atoi(strings.TrimSpace(id.String()))
	if !result.OK() || bad != nil {
		return hypervisor.NodeLogin{}, plugin.Errorf(plugin.Protocol, "the machine's shell cannot run the programs true and id")
	}
	return hypervisor.NodeLogin{
		HostKey: c.hostKey, HostKeyType: c.hostKeyType, User: m.target.SSH.User, UserID: user, Server: clean(c.server),
	}, nil
}

// RunOnNode implements hypervisor.NodeExecutor. It checks the command before it
// connects.
func (m *Machine) RunOnNode(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (
	hypervisor.NodeResult, error) {
	if err := command.Check(); err != nil {
		return hypervisor.NodeResult{}, err
	}
	c, err := m.connect(ctx, false)
	if err != nil {
		return hypervisor.NodeResult{}, err
	}
	defer c.close()
	return c.run(ctx, command, streams)
}

// limitOf returns the time limit of a command: its own, or the caller's
// deadline if that comes earlier.
func limitOf(ctx context.Context, own time.Duration) time.Duration {
	limit := own
	if until, ok := ctx.Deadline(); ok {
		if left := max(time.Until(until), time.Millisecond); limit == 0 || left < limit {
			limit = left
		}
	}
	if limit == 0 {
		limit = longest
	}
	return limit
}

// aborted is the cause of a run that ended because the caller's input could not
// be read or its output not be written. The caller gets that error unchanged.
type aborted struct{ error }

// run runs a program in a session of the connection. Goroutines send the input
// and read both outputs, while this one waits for the end. It returns only when
// no goroutine uses the caller's streams any more, except for a Read of the
// input that blocks.
//
// If ctx ends, giveUp kills the program and closes the connection first. The
// limit is enforced on the machine (timeout -s KILL), rounded up to seconds.
func (c *connection) run(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (
	hypervisor.NodeResult, error) {
	limit := limitOf(ctx, command.Limit)
	seconds := int64((limit + time.Second - 1) / time.Second)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+afterLimit)
	defer cancel()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	lines, word := frame(command, seconds)
	output, failures := newGate(word, streams.Output), newGate(word, streams.Errors)
	defer failures.close()
	defer output.close()
	gone := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		c.giveUp(output)
		close(gone)
	})
	defer func() {
		if !release() {
			<-gone
		}
	}()
	s, err := c.open(ctx)
	if err != nil {
		return hypervisor.NodeResult{}, err
	}
	began := time.Now()
	fail := func(err error) { abort(aborted{err}) }
	go s.feed(lines, streams.Input, fail)
	var pumps sync.WaitGroup
	for to, from := range map[*gate]io.Reader{output: s.channel, failures: s.channel.Stderr()} {
		pumps.Go(func() {
			_, err := io.Copy(to, from)
			if write, ok := errors.AsType[writeError](err); ok {
				fail(write.error)
			}
		})
	}
	end, ended := s.wait(ctx, &pumps)
	cause, failed := errors.AsType[aborted](context.Cause(ctx))
	late := plugin.Errorf(plugin.Timeout, "the program did not finish within %d s and was killed", seconds)
	switch {
	case failed:
		return hypervisor.NodeResult{}, cause.error
	case !ended && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return hypervisor.NodeResult{}, late
	case !ended:
		return hypervisor.NodeResult{}, c.lost(ctx)
	case !output.open():
		return hypervisor.NodeResult{}, unstarted(end, failures)
	case killedAt(end, time.Since(began), time.Duration(seconds)*time.Second):
		return hypervisor.NodeResult{}, late
	}
	return end, nil
}

// killedAt reports whether a program was killed at its limit: by SIGKILL, or
// 137 or 124 as exit code, after running for the whole limit. timeout has no
// way to tell these cases apart, so the duration decides.
func killedAt(end hypervisor.NodeResult, took, limit time.Duration) bool {
	return (end.Signal == "KILL" || end.ExitCode == 137 || end.ExitCode == 124) && took >= limit-100*time.Millisecond
}

// unstarted returns the error of a script that did not start the program, with
// what the login printed as the reason.
func unstarted(end hypervisor.NodeResult, failures *gate) error {
	switch end.ExitCode {
	case exitNoDirectory:
		return plugin.Errorf(plugin.NotFound, "the working directory does not exist")
	case exitNoTimeout:
		return plugin.Errorf(plugin.Unsupported, "the machine does not have the program timeout")
	}
	why := clean(failures.noise())
	if why == "" {
		why = "no reason given"
	}
	return plugin.Errorf(plugin.Refused, "the machine's shell did not start the program (exit code %d): %s", end.ExitCode, why)
}

// clean returns a text of the machine on one line of at most 200 characters,
// without control characters.
func clean(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(text); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return text
}

// giveUp kills the program's process group and closes the connection. Closing
// the channel alone would leave a program running that writes nothing. It uses
// a second session of the same connection and its own time limit.
func (c *connection) giveUp(output *gate) {
	ctx, cancel := context.WithTimeout(context.Background(), c.waits.Kill)
	defer cancel()
	defer context.AfterFunc(ctx, c.close)()
	defer c.close()
	if output.process() == "" {
		return
	}
	s, err := c.open(ctx)
	if err != nil {
		return
	}
	// The shell of the session leads the group of all that it has started, and is one with the program timeout by now.
	lines, _ := frame(hypervisor.NodeCommand{Program: "kill", Arguments: []string{"-KILL", "--", "-" + output.process()}}, 2)
	go s.feed(lines, nil, func(error) {})
	var none sync.WaitGroup
	go func() { _, _ = io.Copy(io.Discard, s.channel) }()
	go func() { _, _ = io.Copy(io.Discard, s.channel.Stderr()) }()
	s.wait(ctx, &none)
}

// session is a running command.
type session struct {
	channel  ssh.Channel
	requests <-chan *ssh.Request
}

// open starts the script in a new session. A refusal of the session is Refused:
// some keys may only be used for forwarding.
func (c *connection) open(ctx context.Context) (*session, error) {
	channel, requests, err := c.client.OpenChannel("session", nil)
	if err != nil {
		if refused, ok := errors.AsType[*ssh.OpenChannelError](err); ok {
			return nil, plugin.Errorf(plugin.Refused, "the machine refused to open a session: %s", clean(refused.Message))
		}
		return nil, c.lost(ctx)
	}
	taken, err := channel.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{script}))
	if err != nil {
		return nil, c.lost(ctx)
	}
	if !taken {
		_ = channel.Close()
		return nil, plugin.Errorf(plugin.Refused, "the machine does not run commands for this SSH key")
	}
	return &session{channel, requests}, nil
}

// feed sends the lines and then the input, and closes the program's standard
// input. It ends silently if the machine takes no more data, because a program
// may end without reading its input. An error of the input is passed to fail.
func (s *session) feed(lines []byte, input io.Reader, fail func(error)) {
	if _, err := s.channel.Write(lines); err != nil {
		return // the end of the session says why
	}
	if input != nil {
		buffer := make([]byte, 32<<10)
		for {
			n, err := input.Read(buffer)
			if n > 0 {
				if _, err := s.channel.Write(buffer[:n]); err != nil {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				fail(err)
				return
			}
		}
	}
	_ = s.channel.CloseWrite()
}

// wait returns how the program ended, after its outputs were read. ended is
// false if the machine never reported an end. After the report it waits up to
// afterEnd for outputs that a background process keeps open.
func (s *session) wait(ctx context.Context, pumps *sync.WaitGroup) (end hypervisor.NodeResult, ended bool) {
	defer func() {
		_ = s.channel.Close()
		go ssh.DiscardRequests(s.requests)
	}()
	var late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return end, false
		case <-late:
			return end, true
		case request, more := <-s.requests:
			if !more {
				if ended {
					pumps.Wait()
				}
				return end, ended
			}
			if result, ok := resultOf(request); ok {
				end, ended = result, true
				timer := time.NewTimer(afterEnd)
				defer timer.Stop()
				late = timer.C
			}
			if request.WantReply {
				_ = request.Reply(false, nil)
			}
		}
	}
}

// signals are the numbers of signals, by which shells report a death by a
// signal as exit code 128 plus the number (POSIX kill).
var signals = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "ABRT": 6, "FPE": 8, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12,
	"PIPE": 13, "ALRM": 14, "TERM": 15}

// resultOf reads the end of a program (RFC 4254 section 6.10).
func resultOf(request *ssh.Request) (hypervisor.NodeResult, bool) {
	switch request.Type {
	case "exit-status":
		var told struct{ Status uint32 }
		if ssh.Unmarshal(request.Payload, &told) == nil {
			return hypervisor.NodeResult{ExitCode: int(told.Status)}, true
		}
	case "exit-signal":
		var told struct {
			Signal   string
			Dumped   bool
			Message  string
			Language string
		}
		if ssh.Unmarshal(request.Payload, &told) == nil {
			name, _, _ := strings.Cut(clean(told.Signal), "@")
			return hypervisor.NodeResult{ExitCode: 128 + signals[name], Signal: name}, true
		}
	}
	return hypervisor.NodeResult{}, false
}
