package memdriver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hostler/hostler/sdk/endpoint"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Machine describes the machine at a cluster's address, for logins.
type Machine struct {
	// HostKey is its fingerprint.
	HostKey string
	// Keys are the ids of the credentials that it takes; nil takes any.
	Keys []string
	// UserID is that of whoever logs in.
	UserID int
	// Programs are those that it has besides true, false, cat, env, printf,
	// sleep, rm, sha256sum, id and uname: each gives its exit code.
	Programs map[string]func(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) int
}

// machine is the present machine with its files.
type machine struct {
	Machine
	files map[string]nodeFile
	ran   []hypervisor.NodeCommand
}

// nodeFile is a file on the machine.
type nodeFile struct {
	mode    uint32
	content []byte
}

// ChangeMachine changes the machine. It is the same one at all addresses of the
// cluster.
func (c *Cluster) ChangeMachine(change func(*Machine)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.loginMachine().Machine)
}

// Commands returns the commands that were run on the machine, the oldest first.
func (c *Cluster) Commands() []hypervisor.NodeCommand {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.loginMachine().ran)
}

// NodeLogin returns a target that logs in with a key, with the host key pinned.
func (c *Cluster) NodeLogin() endpoint.Target {
	c.mu.Lock()
	defer c.mu.Unlock()
	target := c.target(endpoint.Credential{Form: endpoint.FormSSHKey, ID: "SHA256:any", Secret: keyBegin + "\nof-memory\n"})
	target.SSH = endpoint.SSH{User: rootUser, HostKey: c.loginMachine().HostKey}
	return target
}

const (
	keyBegin = "-----BEGIN OPENSSH PRIVATE KEY-----"
	rootUser = "root"
)

// loginMachine returns the machine. The caller holds the lock.
func (c *Cluster) loginMachine() *machine {
	if c.machine == nil {
		c.machine = &machine{Machine: Machine{HostKey: endpoint.HostKeyFingerprint([]byte(c.address))}, files: map[string]nodeFile{}}
	}
	return c.machine
}

// enter begins every call to the machine: it stands for the network, applies
// the fault, and checks the host key and the key.
func (h *Host) enter(ctx context.Context, method string, learn bool) (*Cluster, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := h.driver.cluster(h.target)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.calls[method]++
	m, given := c.loginMachine().Machine, h.target.Credential
	c.mu.Unlock()
	if fault := c.fault(method); !fault.Late {
		if err := fault.apply(ctx, h.target); err != nil {
			return nil, err
		}
	}
	switch pinned := h.target.SSH.HostKey; {
	case given.Form != endpoint.FormSSHKey || !strings.HasPrefix(string(given.Secret), keyBegin):
		return nil, plugin.Errorf(plugin.Invalid, "the credential is no SSH key")
	case pinned == "" && !learn:
		return nil, plugin.Errorf(plugin.Invalid, "no host key is pinned")
	case pinned != "" && !endpoint.EqualHostKey(pinned, m.HostKey):
		return nil, endpoint.HostKeyChanged(pinned, m.HostKey)
	case h.target.SSH.User != rootUser || m.Keys != nil && !slices.Contains(m.Keys, given.ID):
		return nil, plugin.Errorf(plugin.TokenRejected, "the machine does not take the SSH key for %.80s", h.target.SSH.User)
	}
	return c, nil
}

// late applies the late fault of a call.
func (h *Host) late(ctx context.Context, c *Cluster, method string) error {
	if fault := c.fault(method); fault.Late {
		return fault.apply(ctx, h.target)
	}
	return nil
}

// CheckLogin implements hypervisor.NodeExecutor.
func (h *Host) CheckLogin(ctx context.Context) (hypervisor.NodeLogin, error) {
	c, err := h.enter(ctx, "checklogin", true)
	if err != nil {
		return hypervisor.NodeLogin{}, err
	}
	c.mu.Lock()
	m := c.loginMachine().Machine
	c.mu.Unlock()
	return hypervisor.NodeLogin{HostKey: m.HostKey, HostKeyType: "ssh-ed25519", User: h.target.SSH.User, UserID: m.UserID,
		Server: "SSH-2.0-Memory"}, h.late(ctx, c, "checklogin")
}

// RunOnNode implements hypervisor.NodeExecutor, with the machine's few programs.
func (h *Host) RunOnNode(ctx context.Context, command hypervisor.NodeCommand, streams hypervisor.NodeStreams) (
	hypervisor.NodeResult, error) {
	if err := command.Check(); err != nil {
		return hypervisor.NodeResult{}, err
	}
	c, err := h.enter(ctx, "runonnode", false)
	if err != nil {
		return hypervisor.NodeResult{}, err
	}
	if command.Directory != "" && command.Directory != "/" && command.Directory != "/tmp" {
		return hypervisor.NodeResult{}, plugin.Errorf(plugin.NotFound, "the directory to run in is not there")
	}
	c.mu.Lock()
	m := c.loginMachine()
	m.ran = append(m.ran, command)
	program := m.Programs[command.Program]
	switch {
	case program != nil:
	case command.Program == "rm":
		program = c.remove(m.files)
	case command.Program == "sha256sum":
		program = c.digest(m.files)
	}
	c.mu.Unlock()
	if program == nil {
		program = programs[path.Base(command.Program)]
	}
	return h.runProgram(ctx, c, "runonnode", program, command, streams)
}

// runProgram runs a program to its end; nil stands for one that does not exist.
func (h *Host) runProgram(ctx context.Context, c *Cluster, method string,
	program func(context.Context, hypervisor.NodeCommand, hypervisor.NodeStreams) int, command hypervisor.NodeCommand,
	streams hypervisor.NodeStreams) (hypervisor.NodeResult, error) {
	if err := h.late(ctx, c, method); err != nil {
		return hypervisor.NodeResult{}, err
	}
	if program == nil {
		return hypervisor.NodeResult{ExitCode: 127}, nil
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	if command.Limit > 0 {
		running, cancel = context.WithTimeout(running, command.Limit)
		defer cancel()
	}
	w := &watchedStreams{}
	code := program(running, command, w.around(streams))
	switch err := w.failure(); {
	case err != nil:
		return hypervisor.NodeResult{}, err
	case ctx.Err() != nil:
		return hypervisor.NodeResult{}, ctx.Err()
	case running.Err() != nil:
		return hypervisor.NodeResult{}, plugin.Errorf(plugin.Timeout, "the program did not end within %s and was killed", command.Limit)
	}
	return hypervisor.NodeResult{ExitCode: code}, nil
}

// watchedStreams notice the errors of the caller's streams.
type watchedStreams struct {
	mu  sync.Mutex
	err error
}

// failure returns the first error of the caller's streams.
func (w *watchedStreams) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// note records an error of a stream.
func (w *watchedStreams) note(n int, err error) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

type (
	readFunc  func([]byte) (int, error)
	writeFunc func([]byte) (int, error)
)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// around returns streams of which none is nil.
func (w *watchedStreams) around(s hypervisor.NodeStreams) hypervisor.NodeStreams {
	if s.Input == nil {
		s.Input = strings.NewReader("")
	}
	writer := func(to io.Writer) io.Writer {
		if to == nil {
			return io.Discard
		}
		return writeFunc(func(p []byte) (int, error) { return w.note(to.Write(p)) })
	}
	input := s.Input
	return hypervisor.NodeStreams{
		Input: readFunc(func(p []byte) (int, error) { return w.note(input.Read(p)) }), Output: writer(s.Output), Errors: writer(s.Errors),
	}
}

var programs = map[string]func(context.Context, hypervisor.NodeCommand, hypervisor.NodeStreams) int{
	"true":  func(context.Context, hypervisor.NodeCommand, hypervisor.NodeStreams) int { return 0 },
	"false": func(context.Context, hypervisor.NodeCommand, hypervisor.NodeStreams) int { return 1 },
	"id": func(_ context.Context, _ hypervisor.NodeCommand, s hypervisor.NodeStreams) int {
		_, _ = io.WriteString(s.Output, "0\n")
		return 0
	},
	"uname": func(_ context.Context, _ hypervisor.NodeCommand, s hypervisor.NodeStreams) int {
		_, _ = io.WriteString(s.Output, "x86_64\n")
		return 0
	},
	"cat": func(_ context.Context, _ hypervisor.NodeCommand, s hypervisor.NodeStreams) int {
		_, _ = io.Copy(s.Output, s.Input)
		return 0
	},
	"env": func(_ context.Context, c hypervisor.NodeCommand, s hypervisor.NodeStreams) int {
		end := "\n"
		if slices.Contains(c.Arguments, "-0") {
			end = "\x00"
		}
		for _, v := range c.Environment {
			_, _ = io.WriteString(s.Output, v.Name+"="+string(v.Value)+end)
		}
		return 0
	},
	// printf knows one format.
	"printf": func(_ context.Context, c hypervisor.NodeCommand, s hypervisor.NodeStreams) int {
		if len(c.Arguments) == 0 || c.Arguments[0] != `%s\0` {
			return 2
		}
		for _, argument := range c.Arguments[1:] {
			_, _ = io.WriteString(s.Output, argument+"\x00")
		}
		return 0
	},
	"sleep": func(ctx context.Context, c hypervisor.NodeCommand, _ hypervisor.NodeStreams) int {
		d, err := time.ParseDuration(strings.Join(c.Arguments, "") + "s")
		if err != nil {
			return 1
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return 0
	},
}

// remove returns the program rm on some files.
func (c *Cluster) remove(files map[string]nodeFile) func(context.Context, hypervisor.NodeCommand, hypervisor.NodeStreams) int {
	return func(_ context.Context, command hypervisor.NodeCommand, _ hypervisor.NodeStreams) int {
		c.mu.Lock()
		defer c.mu.Unlock()
		maps.DeleteFunc(files, func(name string, _ nodeFile) bool { return slices.Contains(command.Arguments, name) })
		return 0
	}
}

// folders are all folders of the machine.
var folders = []string{"/", "/tmp", "/etc", "/var/lib", DumpFolder}

// DumpFolder is the folder for files of backups.
const DumpFolder = "/var/lib/dump"

// CopyToNode implements hypervisor.NodeExecutor. The machine has the folders /,
// /tmp, /etc, /var/lib and DumpFolder.
func (h *Host) CopyToNode(ctx context.Context, file hypervisor.NodeFile, content io.Reader) (string, error) {
	if err := file.Check(); err != nil {
		return "", err
	}
	c, err := h.enter(ctx, "copytonode", false)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	files := c.loginMachine().files
	c.mu.Unlock()
	return h.storeFile(ctx, c, "copytonode", files, file, content)
}

// storeFile stores a file of the caller on the machine, or in a container.
func (h *Host) storeFile(ctx context.Context, c *Cluster, method string, files map[string]nodeFile, file hypervisor.NodeFile,
	content io.Reader) (string, error) {
	if slices.Contains(folders, file.Path) {
		return "", plugin.Errorf(plugin.Conflict, "a folder has the path of the file")
	}
	if !slices.Contains(folders, path.Dir(file.Path)) {
		return "", plugin.Errorf(plugin.NotFound, "the folder of the file is not there")
	}
	got, err := io.ReadAll(io.LimitReader(content, file.Size+1))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(got)
	text, field := hex.EncodeToString(sum[:]), ""
	switch {
	case int64(len(got)) != file.Size:
		field = "size"
	case file.SHA256 != "" && !strings.EqualFold(file.SHA256, text):
		field = "sha256"
	}
	if field != "" {
		err := plugin.Errorf(plugin.Invalid, "the content does not have the given %s", field)
		err.Field = field
		return "", err
	}
	c.mu.Lock()
	files[file.Path] = nodeFile{file.Mode, got}
	c.mu.Unlock()
	return text, h.late(ctx, c, method)
}

// CopyFromNode implements hypervisor.NodeExecutor.
func (h *Host) CopyFromNode(ctx context.Context, name string, limit int64, content io.Writer) (hypervisor.NodeFile, error) {
	if err := hypervisor.CheckNodePath(name); err != nil {
		return hypervisor.NodeFile{}, err
	}
	c, err := h.enter(ctx, "copyfromnode", false)
	if err != nil {
		return hypervisor.NodeFile{}, err
	}
	c.mu.Lock()
	files := c.loginMachine().files
	c.mu.Unlock()
	return h.giveFile(ctx, c, "copyfromnode", files, name, limit, content)
}

// giveFile writes a file of the machine, or of a container, to the caller.
func (h *Host) giveFile(ctx context.Context, c *Cluster, method string, files map[string]nodeFile, name string, limit int64,
	content io.Writer) (hypervisor.NodeFile, error) {
	c.mu.Lock()
	file, there := files[name]
	c.mu.Unlock()
	switch {
	case slices.Contains(folders, name):
		return hypervisor.NodeFile{}, plugin.Errorf(plugin.Conflict, "it is not a file")
	case !there:
		return hypervisor.NodeFile{}, plugin.Errorf(plugin.NotFound, "the file is not there")
	case int64(len(file.content)) > limit:
		return hypervisor.NodeFile{}, plugin.Errorf(plugin.Refused, "the file is larger than %d bytes", limit)
	}
	if _, err := io.Copy(content, bytes.NewReader(file.content)); err != nil {
		return hypervisor.NodeFile{}, err
	}
	sum := sha256.Sum256(file.content)
	return hypervisor.NodeFile{Path: name, Mode: file.mode, Size: int64(len(file.content)), SHA256: hex.EncodeToString(sum[:])},
		h.late(ctx, c, method)
}
