package drivertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// hostile are texts with a special meaning for shells, printf, terminals or
// protocols. They must arrive unchanged.
var hostile = []string{
	"", " ", "a b", "'", `"`, `\`, `\\`, "$(id)", "`id`", "${IFS}", "$HOME", "~", "*", "!!", "#", "%s%n", `\0101`, `\c`, "-n", "--", "; id",
	"&& id",
	"| cat", "> /tmp/x", "\n", "a\nb\n\n", "\r\n", "\t", "\x01\x1b[31m", "ä€😀", "\xff\xfe", "a=b", strings.Repeat("x", 70_000),
}

// nodeExecute tests NodeExecutor: logins over SSH, programs and files. Invalid
// commands and files must be refused before a connection is opened; the first
// case uses an address and a key that do not work, to prove it.
func (s *suite) nodeExecute(t *testing.T) {
	need[hypervisor.NodeExecutor](t, s)
	s.run(t, "commands and files that are refused", func(t *testing.T, ctx context.Context) {
		target := s.Target(t, endpoint.Monitoring)
		target.Credential = endpoint.Credential{Form: endpoint.FormSSHKey, Secret: "none"}
		target.SSH = endpoint.SSH{User: "root", HostKey: endpoint.HostKeyFingerprint([]byte("x"))}
		node := as[hypervisor.NodeExecutor](t, s.open(t, target))
		for field, commands := range refusedCommands {
			for _, command := range commands {
				_, err := node.RunOnNode(ctx, command, hypervisor.NodeStreams{})
				wantInvalid(t, err, field)
			}
		}
		for field, files := range refusedFiles {
			for _, file := range files {
				_, err := node.CopyToNode(ctx, file, strings.NewReader(""))
				wantInvalid(t, err, field)
			}
		}
		_, err := node.CopyFromNode(ctx, "/tmp/../etc/shadow", 10, io.Discard)
		wantInvalid(t, err, "path")
	})
	s.nodeLogins(t)
	s.nodePrograms(t)
	s.nodeFiles(t)
}

// refusedCommands are commands that a driver must refuse before it connects, by
// the field of the error.
var refusedCommands = map[string][]hypervisor.NodeCommand{
	"program":   {{}, {Program: "a\x00b"}, {Program: "/bin/../bin/true"}, {Program: "bin/true"}, {Program: "-c"}},
	"directory": {{Program: "true", Directory: "tmp"}, {Program: "true", Directory: "/tmp/.."}, {Program: "true", Directory: "/t\x00mp"}},
	"arguments": {{Program: "true", Arguments: []string{"a\x00"}},
		{Program: "true", Arguments: []string{strings.Repeat("x", hypervisor.MaxNodeArgument+1)}},
		{Program: "true", Arguments: slices.Repeat([]string{strings.Repeat("x", 90_000)}, 6)}},
	"environment": {{Program: "true", Environment: []hypervisor.NodeVariable{{Name: "a b"}}},
		{Program: "true", Environment: []hypervisor.NodeVariable{{Name: ""}}},
		{Program: "true", Environment: []hypervisor.NodeVariable{{Name: "A=B"}}},
		{Program: "true", Environment: []hypervisor.NodeVariable{{Name: "A\n"}}},
		{Program: "true", Environment: []hypervisor.NodeVariable{{Name: "IFS"}}},
		{Program: "true", Environment: []hypervisor.NodeVariable{{Name: "A", Value: "\x00"}}},
		{Program: "true", Environment: []hypervisor.NodeVariable{{Name: "A"}, {Name: "A"}}}},
	"limit": {{Program: "true", Limit: -1}},
}

// refusedFiles are files that a driver must refuse before it connects, by the
// field of the error.
var refusedFiles = map[string][]hypervisor.NodeFile{
	"path":   {{Path: ""}, {Path: "/"}, {Path: "x"}, {Path: "/a/../b"}, {Path: "/a//b"}, {Path: "/a/"}, {Path: "/a\x00"}},
	"mode":   {{Path: "/tmp/x", Mode: 0o1000}, {Path: "/tmp/x", Mode: 0o4755}},
	"size":   {{Path: "/tmp/x", Size: -1}},
	"sha256": {{Path: "/tmp/x", SHA256: "ab"}, {Path: "/tmp/x", SHA256: strings.Repeat("g", 64)}},
}

// wantInvalid checks for an Invalid error with a field.
func wantInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var e *plugin.Error
	if !errors.As(err, &e) || e.Kind != plugin.Invalid || e.Field != field {
		t.Errorf("error is %.200v, want invalid with the field %s", err, field)
	}
}

// nodeExecutor opens the machine for logins. change may edit the target first.
func (s *suite) nodeExecutor(t *testing.T, change func(*endpoint.Target)) hypervisor.NodeExecutor {
	t.Helper()
	hook(t, "NodeLogin", s.NodeLogin != nil)
	target := s.NodeLogin(t)
	if change != nil {
		change(&target)
	}
	return as[hypervisor.NodeExecutor](t, s.open(t, target))
}

// nodeLogins tests the login itself. CheckLogin accepts any host key if none is
// pinned, because it is how a person learns the key; all other calls require a
// pin.
func (s *suite) nodeLogins(t *testing.T) {
	s.run(t, "a login tells the host key, and takes any where none is pinned", func(t *testing.T, ctx context.Context) {
		var pinned string
		for _, pin := range []bool{true, false} {
			node := s.nodeExecutor(t, func(target *endpoint.Target) {
				if pinned = target.SSH.HostKey; !pin {
					target.SSH.HostKey = ""
				}
			})
			login, err := node.CheckLogin(ctx)
			must(t, "logging in", err)
			if login.HostKey != pinned || login.HostKeyType == "" || login.User == "" {
				t.Errorf("pinned %v: the login shows %+v, want the key %s", pin, login, pinned)
			}
		}
		node := s.nodeExecutor(t, func(target *endpoint.Target) { target.SSH.HostKey = "" })
		_, err := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "true"}, hypervisor.NodeStreams{})
		wantKind(t, err, plugin.Invalid)
		_, err = node.CopyFromNode(ctx, "/tmp/x", 1, io.Discard)
		wantKind(t, err, plugin.Invalid)
	})
	s.run(t, "another host key, with both", func(t *testing.T, ctx context.Context) {
		var right string
		wrong := endpoint.HostKeyFingerprint([]byte("another"))
		node := s.nodeExecutor(t, func(target *endpoint.Target) { right, target.SSH.HostKey = target.SSH.HostKey, wrong })
		_, login := node.CheckLogin(ctx)
		_, run := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "true"}, hypervisor.NodeStreams{})
		_, store := node.CopyToNode(ctx, hypervisor.NodeFile{Path: "/tmp/hostler-x", Size: 1}, strings.NewReader("x"))
		for _, err := range []error{login, run, store} {
			wantKind(t, err, plugin.Untrusted)
			var e *plugin.Error
			if errors.As(err, &e); e.Field != endpoint.FieldHostKey || e.Fingerprint != right || !strings.Contains(e.Message, wrong) {
				t.Errorf("the error is %+v, want %s and %s", e, right, wrong)
			}
		}
	})
	s.run(t, "another user, and what is no key", func(t *testing.T, ctx context.Context) {
		_, err := s.nodeExecutor(t, func(target *endpoint.Target) { target.SSH.User = "no-such-user" }).CheckLogin(ctx)
		wantKind(t, err, plugin.TokenRejected)
		_, err = s.nodeExecutor(t, func(target *endpoint.Target) { target.Credential.Secret = "canary-of-a-key" }).CheckLogin(ctx)
		wantKind(t, err, plugin.Invalid)
		if strings.Contains(fmt.Sprint(err), "canary") {
			t.Errorf("the error tells the key: %v", err)
		}
		_, err = s.nodeExecutor(t, func(target *endpoint.Target) {
			target.Credential.Form, target.Credential.Secret = endpoint.FormToken, "a-token"
		}).CheckLogin(ctx)
		wantKind(t, err, plugin.Invalid)
	})
}

// nodePrograms tests programs on a node. Arguments, variables and standard
// input must arrive byte by byte, whatever a shell would make of them. An exit
// code is a result and not an error. An error of the caller's own reader or
// writer is returned unchanged.
func (s *suite) nodePrograms(t *testing.T) {
	s.run(t, "arguments, variables and the input arrive as they are", func(t *testing.T, ctx context.Context) {
		node := s.nodeExecutor(t, nil)
		var got, seen bytes.Buffer
		result, err := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "printf", Arguments: append([]string{`%s\0`}, hostile...)},
			hypervisor.NodeStreams{Output: &got})
		must(t, "running printf", err)
		if want := strings.Join(hostile, "\x00") + "\x00"; !result.OK() || got.String() != want {
			t.Errorf("%d bytes of arguments arrived, want %d: %.200q", got.Len(), len(want), got.String())
		}
		command := hypervisor.NodeCommand{Program: "env", Arguments: []string{"-0"}}
		for i, value := range hostile {
			command.Environment = append(command.Environment, hypervisor.NodeVariable{Name: fmt.Sprintf("V%d", i), Value: plugin.Secret(value)})
		}
		_, err = node.RunOnNode(ctx, command, hypervisor.NodeStreams{Output: &seen})
		must(t, "running env", err)
		for i, value := range hostile {
			if !strings.Contains("\x00"+seen.String(), fmt.Sprintf("\x00V%d=%s\x00", i, value)) {
				t.Errorf("the variable %.80q did not arrive", value)
			}
		}
		input := make([]byte, 1<<20)
		_, _ = rand.Read(input)
		got.Reset()
		_, err = node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "cat"}, hypervisor.NodeStreams{Input: bytes.NewReader(input), Output: &got})
		must(t, "running cat", err)
		if !bytes.Equal(got.Bytes(), input) {
			t.Errorf("%d bytes of the input were returned, want %d", got.Len(), len(input))
		}
	})
	s.run(t, "ends of programs", func(t *testing.T, ctx context.Context) {
		node := s.nodeExecutor(t, nil)
		for program, code := range map[string]int{"true": 0, "false": 1, "no-such-program": 127} {
			result, err := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: program}, hypervisor.NodeStreams{})
			must(t, "running "+program, err)
			if result != (hypervisor.NodeResult{ExitCode: code}) {
				t.Errorf("%s ended with %+v, want %d", program, result, code)
			}
		}
		_, err := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "true", Directory: "/no/such/folder"}, hypervisor.NodeStreams{})
		wantKind(t, err, plugin.NotFound)
		endless := hypervisor.NodeCommand{Program: "sleep", Arguments: []string{"1000"}, Limit: time.Second}
		_, err = node.RunOnNode(ctx, endless, hypervisor.NodeStreams{})
		wantKind(t, err, plugin.Timeout)
		given, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		endless.Limit = 0
		if _, err = node.RunOnNode(given, endless, hypervisor.NodeStreams{}); plugin.KindOf(err) != plugin.Timeout {
			t.Errorf("a caller that waits for a moment: %v", err)
		}
	})
	s.run(t, "streams that fail are the caller's own errors", func(t *testing.T, ctx context.Context) {
		node, mine := s.nodeExecutor(t, nil), errors.New("of mine")
		failing := io.MultiReader(strings.NewReader("x"), failingReader{mine})
		if _, err := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "cat"}, hypervisor.NodeStreams{Input: failing}); !errors.Is(err, mine) {
			t.Errorf("an input that fails: %v", err)
		}
		_, err := node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "cat"},
			hypervisor.NodeStreams{Input: strings.NewReader("x"), Output: failingWriter{mine}})
		if !errors.Is(err, mine) {
			t.Errorf("an output that fails: %v", err)
		}
	})
}

// These fail with a given error, to test that errors of the caller's streams
// are reported unchanged.
type (
	failingReader struct{ err error }
	failingWriter struct{ err error }
)

// Read fails.
func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// Write fails.
func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

// nodeFiles tests copies to and from a node. A file is replaced as a whole or
// not at all: after each refused copy the old content must still be there.
func (s *suite) nodeFiles(t *testing.T) {
	s.run(t, "files", func(t *testing.T, ctx context.Context) {
		node := s.nodeExecutor(t, nil)
		content := make([]byte, 300_000)
		_, _ = rand.Read(content)
		sum := sha256.Sum256(content)
		file := hypervisor.NodeFile{Path: "/tmp/hostler-" + rand.Text() + " '$(id)\"", Mode: 0o640, Size: int64(len(content)),
			SHA256: hex.EncodeToString(sum[:])}
		for range 2 { // the second time in place of the first
			stored, err := node.CopyToNode(ctx, file, bytes.NewReader(content))
			must(t, "storing", err)
			if stored != file.SHA256 {
				t.Errorf("stored is %s, want %s", stored, file.SHA256)
			}
		}
		read := func(limit int64) (hypervisor.NodeFile, []byte, error) {
			var back bytes.Buffer
			got, err := node.CopyFromNode(ctx, file.Path, limit, &back)
			return got, back.Bytes(), err
		}
		got, back, err := read(file.Size)
		must(t, "reading", err)
		if got != file || !bytes.Equal(back, content) {
			t.Errorf("%d bytes of %+v were returned, want %d of %+v", len(back), got, len(content), file)
		}
		_, _, err = read(file.Size - 1)
		wantKind(t, err, plugin.Refused)
		short, other := file, file
		short.Size, other.SHA256 = file.Size-1, strings.Repeat("0", 64)
		_, err = node.CopyToNode(ctx, short, bytes.NewReader(content))
		wantInvalid(t, err, "size")
		_, err = node.CopyToNode(ctx, file, bytes.NewReader(content[1:]))
		wantInvalid(t, err, "size")
		_, err = node.CopyToNode(ctx, other, bytes.NewReader(content))
		wantInvalid(t, err, "sha256")
		mine := errors.New("of mine")
		if _, err := node.CopyToNode(ctx, file, io.MultiReader(bytes.NewReader(content[:9]), failingReader{mine})); !errors.Is(err, mine) {
			t.Errorf("a content that fails: %v", err)
		}
		if _, back, err := read(file.Size); err != nil || !bytes.Equal(back, content) {
			t.Errorf("after files that were refused: %d bytes, %v", len(back), err)
		}
		_, err = node.CopyToNode(ctx, hypervisor.NodeFile{Path: "/no/such/folder/x"}, strings.NewReader(""))
		wantKind(t, err, plugin.NotFound)
		_, err = node.CopyToNode(ctx, hypervisor.NodeFile{Path: "/tmp"}, strings.NewReader(""))
		wantKind(t, err, plugin.Conflict)
		_, err = node.CopyFromNode(ctx, "/tmp", 1, io.Discard)
		wantKind(t, err, plugin.Conflict)
		_, err = node.CopyFromNode(ctx, file.Path+"-no", 1, io.Discard)
		wantKind(t, err, plugin.NotFound)
		_, _ = node.RunOnNode(ctx, hypervisor.NodeCommand{Program: "rm", Arguments: []string{"--", file.Path}}, hypervisor.NodeStreams{})
	})
}
