package nodeunit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// Prepare brings a run to the machine. It changes nothing where the same is there already, started or not, and replaces another one of
// that name that was not started; one that was is Conflict. Files that are not what they should be are Invalid with the field "files",
// and a folder that is not root's alone is Refused. A broken call leaves nothing of the run; making it again is right after any error.
func Prepare(ctx context.Context, node hypervisor.NodeExecutor, spec Spec) error {
	if err := spec.Check(); err != nil {
		return err
	}
	parts := spec.parts(scriptsOf(node))
	archive, into := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_ = into.CloseWithError(spec.writeTar(into, parts)) // which the reader gets
	}()
	defer func() {
		_ = archive.Close()
		<-sent
	}()
	_, err := call(ctx, node, scriptsOf(node).prepare, sendLimit, io.MultiReader(strings.NewReader(digest(parts)+"\n"), archive), spec.Run)
	return err
}

// Start starts a run that was prepared, once: where it was started already nothing happens, and nothing is wrong, whatever has become of
// it since. It is refused where the machine has something else than the spec says (Conflict, or Invalid with the field "files"), and
// after a Stop (Conflict). After an error that does not say no, Start again or ReadState.
func Start(ctx context.Context, node hypervisor.NodeExecutor, spec Spec) error {
	if err := spec.Check(); err != nil {
		return err
	}
	_, err := call(ctx, node, scriptsOf(node).start, askLimit, strings.NewReader(digest(spec.parts(scriptsOf(node)))+"\n"), spec.Run)
	return err
}

// Stop asks a run to end, by TERM and after StopTime by KILL, and does not wait for it. One that was not started is kept from it.
// NotFound for one that is not there.
func Stop(ctx context.Context, node hypervisor.NodeExecutor, run string) error {
	_, err := call(ctx, node, scriptsOf(node).stop, askLimit, nil, run)
	return err
}

// Remove takes a run's folder away; one that is not there is no error. One that runs is Conflict.
func Remove(ctx context.Context, node hypervisor.NodeExecutor, run string) error {
	_, err := call(ctx, node, scriptsOf(node).remove, askLimit, nil, run)
	return err
}

// List names the runs whose folders are on the machine, in order.
func List(ctx context.Context, node hypervisor.NodeExecutor) ([]string, error) {
	out, err := call(ctx, node, list, askLimit, nil, "")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range strings.Fields(string(out)) {
		if checkRun(name) == nil {
			all = append(all, name)
		}
	}
	return all, nil
}

// maxAnswer is what a script's answer has at most, in bytes.
const maxAnswer = 1 << 20

// call runs a script for a run, and gives what it prints.
func call(ctx context.Context, node hypervisor.NodeExecutor, script string, limit time.Duration, input io.Reader, run string,
	more ...string) ([]byte, error) {
	if script != list {
		if err := checkRun(run); err != nil {
			return nil, err
		}
	}
	var out, words answer
	result, err := node.RunOnNode(ctx, hypervisor.NodeCommand{
		Program: "/bin/sh", Arguments: append([]string{"-c", script, "hostler-run", run}, more...), Limit: limit,
	}, hypervisor.NodeStreams{Input: input, Output: &out, Errors: &words})
	if err != nil {
		return nil, err
	}
	if !result.OK() {
		return nil, said(result, words.text())
	}
	return out.Bytes(), nil
}

// said is the error of a script that says no.
func said(result hypervisor.NodeResult, words string) error {
	switch result.ExitCode {
	case saysNone:
		return plugin.Errorf(plugin.NotFound, "the run does not exist on the machine")
	case saysOther:
		return plugin.Errorf(plugin.Conflict, "the machine has another run with this name")
	case saysChanged:
		return invalid("files", "a file on the machine does not have the expected SHA-256: nothing was started")
	case saysUnsafe:
		return plugin.Errorf(plugin.Refused, "%s is not a folder that only root can write to: nothing is run from there", Folder)
	case saysStopped:
		return plugin.Errorf(plugin.Conflict, "the run was stopped before it started")
	case saysRuns:
		return plugin.Errorf(plugin.Conflict, "the run is still in progress")
	case saysRefused:
		return plugin.Errorf(plugin.Refused, "systemd failed: %s", words)
	}
	return plugin.Errorf(plugin.Refused, "the machine failed (%d): %s", result.ExitCode, words)
}

// answer keeps the beginning of what is written, and fails behind maxAnswer.
type answer struct{ bytes.Buffer }

func (a *answer) Write(p []byte) (int, error) {
	if a.Len()+len(p) > maxAnswer {
		return 0, errors.New("the machine's answer is too long")
	}
	return a.Buffer.Write(p)
}

// text is what was written in one line, without control characters and not long.
func (a *answer) text() string {
	text := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(a.String(), "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return text
}
