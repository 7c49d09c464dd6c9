package pve

import (
	"context"
	"maps"
	"math"
	"net/url"
	"regexp"
	"strconv"

	"github.com/hostler/hostler/plugins/pve/pveapi"
	"github.com/hostler/hostler/sdk/hypervisor"
	"github.com/hostler/hostler/sdk/plugin"
)

// What the hypervisor writes in place of a log that is empty, and of one that is not there.
const (
	emptyLog   = "no content"
	missingLog = "unable to open file - No such file or directory"
)

// logRow is a line of a task's log.
type logRow struct {
	N    pveapi.Int  `json:"n"`
	Text pveapi.Text `json:"t"`
}

// TaskLog reads lines from the node that ran the task.
func (h *Host) TaskLog(ctx context.Context, taskID string, query hypervisor.LogQuery) (hypervisor.Log, error) {
	u, err := parseUPID(taskID)
	if err != nil {
		return hypervisor.Log{}, err
	}
	log, missing, err := h.readLog(ctx, u, query)
	if err != nil {
		return hypervisor.Log{}, err
	}
	if missing {
		// The log of an unknown task is a good answer with one odd line; its status tells the truth.
		if _, _, err := h.taskStatus(ctx, u); err != nil {
			return hypervisor.Log{}, err
		}
	}
	return log, nil
}

// readLog reads a window. missing means that there is no log file.
func (h *Host) readLog(ctx context.Context, u upid, query hypervisor.LogQuery) (log hypervisor.Log, missing bool, err error) {
	path, err := u.path("log")
	if err != nil {
		return log, false, err
	}
	rows, total, missing, err := h.logRows(ctx, path, query.Start, query.Limit, nil)
	if err != nil {
		return log, false, h.explain(ctx, u.node, u.unknown(err))
	}
	if missing {
		return hypervisor.Log{}, true, nil
	}
	log.Total = total
	if len(rows) == 0 {
		return log, false, nil
	}
	log.Lines = make([]hypervisor.LogLine, 0, len(rows))
	for _, row := range rows {
		log.Lines = append(log.Lines, hypervisor.LogLine{N: int(row.N.N), Text: string(row.Text), Share: shareOf(string(row.Text))})
	}
	return log, false, nil
}

// logRows reads a window of any log; a limit of 0 is all. Lines that come without a number are given one. Missing means that there is no
// file, and total counts the lines that there are.
func (h *Host) logRows(ctx context.Context, path string, start, limit int, params url.Values) (rows []logRow, total int, missing bool,
	err error) {
	query := url.Values{
		"start": {strconv.Itoa(max(0, start))},
		"limit": {strconv.Itoa(max(0, limit))}, // the default would be 50
	}
	maps.Copy(query, params)
	meta, err := h.api.Get(ctx, path, query, &rows)
	if err != nil {
		return nil, 0, false, err
	}
	if len(rows) == 1 && meta.Total <= 1 && rows[0].N.N == 1 {
		switch rows[0].Text {
		case emptyLog:
			return nil, 0, false, nil
		case missingLog:
			return nil, 0, true, nil
		}
	}
	if len(rows) == 0 {
		return nil, meta.Total, false, nil
	}
	for i := range rows {
		if !rows[i].N.Set {
			rows[i].N.N = int64(start + i + 1)
		}
	}
	return rows, max(meta.Total, start+len(rows)), false, nil
}

// percent finds how much is done in lines of what moves data: "transferred 1.2 GiB of 32.0 GiB (3.75%)" of a copied disk,
// "INFO:  12% (3.9 GiB of 32.0 GiB) in 3s" of a backup, "progress 12% (read 343605248 bytes, duration 1 sec)" of a restore.
var percent = regexp.MustCompile(`(?:^INFO: +|^progress |transferred .*\()(\d{1,3}(?:\.\d{1,2})?)%`)

// shareOf is what a line tells of how much is done; 0 where it tells nothing.
func shareOf(text string) float64 {
	found := percent.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	told, _ := strconv.ParseFloat(found[1], 64) // the expression lets nothing else through
	return min(math.Round(told*100)/1e4, 1)
}

// path is a path below the task, on its own node.
func (u upid) path(rest ...string) (string, error) {
	return nodePath(u.node, append([]string{"tasks", u.text}, rest...)...)
}

// unknown turns the hypervisor's way to say that there is no such task, a refused parameter, into NotFound.
func (u upid) unknown(err error) error {
	if e, ok := asError(err); ok && e.Kind == plugin.Invalid && e.Field == "upid" {
		return plugin.Errorf(plugin.NotFound, "there is no task %s", u.text)
	}
	return err
}
