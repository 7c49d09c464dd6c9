package lxd

import (
	"context"
	"regexp"
	"strconv"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// TaskLog implements hypervisor.Host. LXD has no logs of operations, so the log
// consists of the description and, if the server reports it, the progress.
func (h *Host) TaskLog(ctx context.Context, taskID string, query hypervisor.LogQuery) (hypervisor.Log, error) {
	op, err := h.operation(ctx, taskID)
	if err != nil {
		return hypervisor.Log{}, err
	}
	lines := logOf(op)
	log := hypervisor.Log{Total: len(lines)}
	start := min(max(query.Start, 0), len(lines))
	end := len(lines)
	if query.Limit > 0 {
		end = min(start+min(query.Limit, len(lines)), end)
	}
	log.Lines = lines[start:end]
	return log, nil
}

// logOf are the lines about an operation.
func logOf(op *lxdapi.Operation) (lines []hypervisor.LogLine) {
	if op.Description != "" {
		lines = append(lines, hypervisor.LogLine{N: 1, Text: op.Description})
	}
	if op.Progress != "" {
		lines = append(lines, progressLine(len(lines)+1, op.Progress))
	}
	return lines
}

// taskLog passes on what an operation reports while it is followed, each text
// once, with consecutive line numbers.
type taskLog struct {
	lines    int // that are handed on, or were before
	progress string
	line     func(hypervisor.LogLine) error
}

// begin passes on what was reported so far, without the first from lines, which
// the caller knows.
func (l *taskLog) begin(op *lxdapi.Operation, from int) error {
	l.lines, l.progress = from, op.Progress
	for _, said := range logOf(op) {
		if said.N > from {
			l.lines = said.N
			if err := l.line(said); err != nil {
				return err
			}
		}
	}
	return nil
}

// write passes on the progress if it has changed.
func (l *taskLog) write(op *lxdapi.Operation) error {
	if op.Progress == "" || op.Progress == l.progress {
		return nil
	}
	l.progress = op.Progress
	l.lines++
	return l.line(progressLine(l.lines, op.Progress))
}

// percent finds how much is done in the text of a progress: "Unpack: 42% (9.70MB/s)". Others count bytes and tell nothing of it.
var percent = regexp.MustCompile(`(?:^|\s)(\d{1,3})%`)

// progressLine is the text of a progress as a line of the log.
func progressLine(n int, text string) hypervisor.LogLine {
	line := hypervisor.LogLine{N: n, Text: text}
	if found := percent.FindStringSubmatch(text); found != nil {
		share, _ := strconv.Atoi(found[1]) // the expression lets nothing else through
		line.Share = min(float64(share)/100, 1)
	}
	return line
}
