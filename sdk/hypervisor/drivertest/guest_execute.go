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
	"strings"
	"testing"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Inside describes a machine with containers.
type Inside struct {
	// Target is as that of Config.NodeLogin.
	Target endpoint.Target
	// Running is a container that has what the machine of NodeLogin has, and
	// may be changed, and Stopped one that does not run.
	Running, Stopped hypervisor.GuestRef
	// Port is a TCP port at which a program in the running one listens, at
	// 127.0.0.1 and nothing else there.
	Port int
}

// notThere returns a container that the machine does not have.
func (in Inside) notThere() hypervisor.GuestRef {
	return hypervisor.GuestRef{Kind: hypervisor.Container, Node: in.Running.Node, ID: "999999998"}
}

// inside opens the machine with containers.
func (s *suite) inside(t *testing.T) (Inside, hypervisor.Host) {
	t.Helper()
	hook(t, "Inside", s.Inside != nil)
	in := s.Inside(t)
	return in, s.open(t, in.Target)
}

// guestExecute tests GuestExecutor. It has the same contract as NodeExecutor,
// for a program in a container. VMs are Unsupported, a stopped container is a
// Conflict and an unknown one NotFound.
func (s *suite) guestExecute(t *testing.T) {
	need[hypervisor.GuestExecutor](t, s)
	s.run(t, "inside of a container", func(t *testing.T, ctx context.Context) {
		in, host := s.inside(t)
		at := as[hypervisor.GuestExecutor](t, host)
		s.guestPrograms(t, ctx, in, at)
		s.guestFiles(t, ctx, in, at)
		vm := in.Running
		vm.Kind = hypervisor.VM
		for _, refused := range []struct {
			ref  hypervisor.GuestRef
			want plugin.ErrorKind
		}{{vm, plugin.Unsupported}, {in.Stopped, plugin.Conflict}, {in.notThere(), plugin.NotFound}} {
			_, run := at.RunInGuest(ctx, refused.ref, hypervisor.NodeCommand{Program: "true"}, hypervisor.NodeStreams{})
			wantKind(t, run, refused.want)
			_, store := at.CopyToGuest(ctx, refused.ref, hypervisor.NodeFile{Path: "/tmp/x", Size: 1}, strings.NewReader("x"))
			wantKind(t, store, refused.want)
			_, fetch := at.CopyFromGuest(ctx, refused.ref, "/tmp/x", 1, io.Discard)
			wantKind(t, fetch, refused.want)
		}
		for field, commands := range refusedCommands {
			for _, command := range commands {
				_, err := at.RunInGuest(ctx, in.Running, command, hypervisor.NodeStreams{})
				wantInvalid(t, err, field)
			}
		}
		for field, files := range refusedFiles {
			for _, file := range files {
				_, err := at.CopyToGuest(ctx, in.Running, file, strings.NewReader(""))
				wantInvalid(t, err, field)
			}
		}
	})
}

// guestPrograms tests programs in a container: arguments, streams, exit codes.
func (s *suite) guestPrograms(t *testing.T, ctx context.Context, in Inside, at hypervisor.GuestExecutor) {
	var got bytes.Buffer
	result, err := at.RunInGuest(ctx, in.Running, hypervisor.NodeCommand{Program: "printf", Arguments: append([]string{`%s\0`}, hostile...)},
		hypervisor.NodeStreams{Output: &got})
	must(t, "running printf", err)
	if want := strings.Join(hostile, "\x00") + "\x00"; !result.OK() || got.String() != want {
		t.Errorf("%d bytes of arguments arrived, want %d: %.200q", got.Len(), len(want), got.String())
	}
	command := hypervisor.NodeCommand{Program: "env", Arguments: []string{"-0"}}
	for i, value := range hostile {
		command.Environment = append(command.Environment, hypervisor.NodeVariable{Name: fmt.Sprintf("V%d", i), Value: plugin.Secret(value)})
	}
	got.Reset()
	_, err = at.RunInGuest(ctx, in.Running, command, hypervisor.NodeStreams{Output: &got})
	must(t, "running env", err)
	for i, value := range hostile {
		if !strings.Contains("\x00"+got.String(), fmt.Sprintf("\x00V%d=%s\x00", i, value)) {
			t.Errorf("the variable %.80q did not arrive", value)
		}
	}
	input := make([]byte, 1<<20)
	_, _ = rand.Read(input)
	got.Reset()
	_, err = at.RunInGuest(ctx, in.Running, hypervisor.NodeCommand{Program: "cat"},
		hypervisor.NodeStreams{Input: bytes.NewReader(input), Output: &got})
	must(t, "running cat", err)
	if !bytes.Equal(got.Bytes(), input) {
		t.Errorf("%d bytes of the input were returned, want %d", got.Len(), len(input))
	}
	for program, code := range map[string]int{"true": 0, "false": 1, "no-such-program": 127} {
		result, err := at.RunInGuest(ctx, in.Running, hypervisor.NodeCommand{Program: program}, hypervisor.NodeStreams{})
		must(t, "running "+program, err)
		if result.ExitCode != code {
			t.Errorf("%s ended with %+v, want %d", program, result, code)
		}
	}
	_, err = at.RunInGuest(ctx, in.Running, hypervisor.NodeCommand{Program: "true", Directory: "/no/such/folder"}, hypervisor.NodeStreams{})
	wantKind(t, err, plugin.NotFound)
	_, err = at.RunInGuest(ctx, in.Running, hypervisor.NodeCommand{Program: "sleep", Arguments: []string{"1000"}, Limit: 5 * time.Second},
		hypervisor.NodeStreams{})
	wantKind(t, err, plugin.Timeout)
	mine := errors.New("of mine")
	_, err = at.RunInGuest(ctx, in.Running, hypervisor.NodeCommand{Program: "cat"}, hypervisor.NodeStreams{Input: failingReader{mine}})
	if !errors.Is(err, mine) {
		t.Errorf("an input that fails: %v", err)
	}
}

// guestFiles tests copies into and out of a container.
func (s *suite) guestFiles(t *testing.T, ctx context.Context, in Inside, at hypervisor.GuestExecutor) {
	content := make([]byte, 300_000)
	_, _ = rand.Read(content)
	sum := sha256.Sum256(content)
	file := hypervisor.NodeFile{Path: "/tmp/hostler-" + rand.Text() + " '$(id)\"", Mode: 0o640, Size: int64(len(content)),
		SHA256: hex.EncodeToString(sum[:])}
	stored, err := at.CopyToGuest(ctx, in.Running, file, bytes.NewReader(content))
	must(t, "storing", err)
	if stored != file.SHA256 {
		t.Errorf("stored is %s, want %s", stored, file.SHA256)
	}
	var back bytes.Buffer
	got, err := at.CopyFromGuest(ctx, in.Running, file.Path, file.Size, &back)
	must(t, "reading", err)
	if got != file || !bytes.Equal(back.Bytes(), content) {
		t.Errorf("%d bytes of %+v were returned, want %d of %+v", back.Len(), got, len(content), file)
	}
	_, err = at.CopyFromGuest(ctx, in.Running, file.Path, file.Size-1, io.Discard)
	wantKind(t, err, plugin.Refused)
	other := file
	other.SHA256 = strings.Repeat("0", 64)
	_, err = at.CopyToGuest(ctx, in.Running, other, bytes.NewReader(content))
	wantInvalid(t, err, "sha256")
	mine := errors.New("of mine")
	_, err = at.CopyToGuest(ctx, in.Running, file, io.MultiReader(bytes.NewReader(content[:9]), failingReader{mine}))
	if !errors.Is(err, mine) {
		t.Errorf("a content that fails: %v", err)
	}
	_, err = at.CopyToGuest(ctx, in.Running, hypervisor.NodeFile{Path: "/no/such/folder/x"}, strings.NewReader(""))
	wantKind(t, err, plugin.NotFound)
	remove := hypervisor.NodeCommand{Program: "rm", Arguments: []string{"--", file.Path}}
	_, err = at.RunInGuest(ctx, in.Running, remove, hypervisor.NodeStreams{})
	must(t, "removing", err)
	_, err = at.CopyFromGuest(ctx, in.Running, file.Path, 1, io.Discard)
	wantKind(t, err, plugin.NotFound)
}
