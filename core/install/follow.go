package install

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/host"
	"github.com/hostler/hostler/core/job"
	"github.com/hostler/hostler/core/nodeunit"
	"github.com/hostler/hostler/sdk/plugin"
)

// maxPrompts is how many bytes are read of the file in which the scripts note
// questions.
const maxPrompts = 16 << 10

// follow starts the run, if it is not started yet, and copies its output into
// the transcript until it ends. It continues at the stored offset after an
// interruption. If the machine does not answer at all for UnreachableLimit, the
// run ends as lost. A canceled job does not return here: follow stops the
// scripts and waits for their end.
func (w *work) follow(ctx context.Context) error {
	if err := w.start(ctx); err != nil || w.End != nil {
		return err
	}
	w.hook("started", w.run.Job().ID)
	out, from := w.lines(), w.Offset
	told := ""
	for {
		if err := w.stop(); err != nil || w.End != nil {
			return err
		}
		waiting := w.life
		if !w.Stopped {
			waiting = ctx // which a cancel ends
		}
		heard := w.node.heard.Load()
		limited, cancel := context.WithTimeout(waiting, cmp.Or(w.UnreachableLimit, defaultLost))
		state, next, err := nodeunit.Follow(limited, w.node, w.Mark, from, out)
		cancel()
		from = next
		switch {
		case w.life.Err() != nil:
			return context.Cause(w.life)
		case err == nil:
			return w.over(out, state)
		case errors.Is(err, job.ErrLost):
			return err
		case plugin.KindOf(err) == plugin.NotFound:
			w.End = &end{Phase: gonePhase}
			return w.save()
		case w.node.heard.Load() == heard && limited.Err() != nil && waiting.Err() == nil:
			w.End = &end{Phase: lostPhase}
			return w.save()
		case waiting.Err() != nil || limited.Err() != nil:
			continue
		}
		if text := job.Explain(err); text != told {
			w.run.Note("the machine does not answer (%s); the scripts keep running", text)
			told = text
		}
		if err := w.pause(waiting); err != nil && w.life.Err() != nil {
			return context.Cause(w.life)
		}
	}
}

// start starts the run. Starting is idempotent on the machine. If the files of
// the run no longer exist there, it is not prepared again, because it may have
// run.
func (w *work) start(ctx context.Context) error {
	state, err := w.look()
	if plugin.KindOf(err) == plugin.NotFound {
		w.End = &end{Phase: gonePhase}
		return w.save()
	}
	if err != nil {
		return w.unreached(err)
	}
	if state.Phase != nodeunit.Prepared || state.Stopped {
		return nil
	}
	if ctx.Err() != nil && w.life.Err() == nil { // it was canceled before it was started for sure
		return w.stop()
	}
	err = w.run.RetryUnreachable(w.life, func(ctx context.Context) error {
		return nodeunit.Start(ctx, w.node, w.spec(&w.manifest, nil))
	})
	if err == nil {
		return nil
	}
	var said *plugin.Error
	if errors.As(err, &said) && (said.Kind == plugin.Invalid || said.Kind == plugin.Conflict || said.Kind == plugin.Refused) {
		state, err := w.look()
		if err == nil && state.Phase != nodeunit.Prepared {
			return nil // an earlier request has started it
		}
		if err == nil {
			w.End = &end{Phase: refusedPhase, Why: host.Clean(said.Message)}
			return w.save()
		}
	}
	return w.unreached(err)
}

// unreached handles an error of the machine. A job that is to be resumed
// returns the error and continues later; otherwise the run ends as lost.
func (w *work) unreached(err error) error {
	var said *plugin.Error
	switch {
	case w.life.Err() != nil:
		return context.Cause(w.life)
	case errors.Is(err, job.ErrLost), !errors.As(err, &said) && db.Unavailable(err):
		return err
	}
	w.End = &end{Phase: lostPhase, Why: job.Explain(err)}
	return w.save()
}

// look reads the state of the run.
func (w *work) look() (state nodeunit.State, err error) {
	err = w.run.RetryUnreachable(w.life, func(ctx context.Context) (err error) {
		state, _, err = nodeunit.ReadState(ctx, w.node, w.Mark, 0, 0)
		return err
	})
	return state, err
}

// stop stops the scripts if the job was canceled, once.
func (w *work) stop() error {
	select {
	case <-w.run.Canceled():
	default:
		return nil
	}
	if w.Stopped {
		return nil
	}
	w.run.Note("canceled; stopping the scripts")
	err := w.run.RetryUnreachable(w.life, func(ctx context.Context) error { return nodeunit.Stop(ctx, w.node, w.Mark) })
	if err != nil && plugin.KindOf(err) != plugin.NotFound {
		return w.unreached(err)
	}
	w.Stopped = true
	return w.save()
}

// over stores how the run ended, with what the scripts asked.
func (w *work) over(out *nodeunit.Lines, s nodeunit.State) error {
	if err := out.Close(); err != nil {
		return err
	}
	e := &end{Phase: s.Phase, ExitCode: s.ExitCode, Signal: s.Signal, TimedOut: s.TimedOut, Changed: s.Changed, OutOfMemory: s.OutOfMemory,
		StartedAt: s.StartedAt, EndedAt: s.EndedAt}
	w.Stopped = w.Stopped || s.Stopped
	if w.Launch.Sentinel != "" {
		var err error
		if e.Asked, err = w.readPrompts(); err != nil {
			if w.life.Err() != nil {
				return context.Cause(w.life)
			}
			e.Unread = true
		}
	}
	w.End = e
	return w.save()
}

// readPrompts returns what the scripts asked; empty for nothing. A file that is
// too large or unreadable counts as a question.
func (w *work) readPrompts() (string, error) {
	var text bytes.Buffer
	err := w.run.RetryUnreachable(w.life, func(ctx context.Context) error {
		text.Reset()
		_, err := w.node.CopyFromNode(ctx, nodeunit.FolderOf(w.Mark)+"/"+w.Launch.Sentinel, maxPrompts, &text)
		return err
	})
	switch {
	case plugin.KindOf(err) == plugin.NotFound:
		return "", nil
	case plugin.KindOf(err) == plugin.Refused || plugin.KindOf(err) == plugin.Conflict:
		return "more than can be shown", nil
	case err != nil:
		return "", err
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		if line = host.Clean(strings.TrimSpace(line)); line != "" {
			lines = append(lines, line)
		}
	}
	return w.hidden(cmp.Or(strings.Join(lines, "; "), "something")), nil
}

// hidden removes the secrets of the job from a text.
func (w *work) hidden(text string) string { return plugin.HideSecrets(text, w.secrets()...) }
