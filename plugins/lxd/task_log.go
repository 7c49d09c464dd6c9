package lxd

import (
	"context"

	"github.com/hostler/hostler/plugins/lxd/lxdapi"
	"github.com/hostler/hostler/sdk/hypervisor"
)

// TaskLog is what the server says of an operation while it knows it: what it does and, where it tells, how far it is. There is no
// log beside that.
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
	for _, text := range []string{op.Description, op.Progress} {
		if text != "" {
			lines = append(lines, hypervisor.LogLine{N: len(lines) + 1, Text: text})
		}
	}
	return lines
}
