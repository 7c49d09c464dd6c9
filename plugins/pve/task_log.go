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

// These are the texts in place of a log that is empty, and of one that does not
// exist.
const (
	emptyLog   = "no content"
	missingLog = "unable to open file - No such file or directory"
)

// logRow is one line of a task's log.
type logRow struct {
	N    pveapi.Int  `json:"n"`
	Text pveapi.Text `json:"t"`
}

// TaskLog reads lines of a log from the node that ran the task.
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
		// For an unknown task the answer is a log with one odd line and status
		// 200. The task's status tells the truth.
		if _, _, err := h.taskStatus(ctx, u); err != nil {
			return hypervisor.Log{}, err
		}
	}
	return log, nil
}

// readLog reads a part of a log. missing means that there is no log file.
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

// logRows reads a part of any log; a limit of 0 stands for all. Lines without a
// number get one. missing means that there is no file, and total counts all
// lines.
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

// percent finds the progress in lines of tools that move data: "transferred 1.2
// GiB of 32.0 GiB (3.75%)" of a disk copy, "INFO: 12% (3.9 GiB of 32.0 GiB) in
// 3s" of a backup, "progress 12% (read 343605248 bytes, duration 1 sec)" of a
// restore.
var percent = regexp.MustCompile(`(?:^INFO: +|^progress |transferred .*\()(\d{1,3}(?:\.\d{1,2})?)%`)

// shareOf returns the progress in a line, from 0 to 1; 0 if there is none.
func shareOf(text string) float64 {
	found := percent.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	told, _ := strconv.ParseFloat(found[1], 64) // the expression lets nothing else through
	return min(math.Round(told*100)/1e4, 1)
}

// path returns a path below the task, on the task's own node.
func (u upid) path(rest ...string) (string, error) {
	return nodePath(u.node, append([]string{"tasks", u.text}, rest...)...)
}

// unknown turns the refusal of a parameter, which is the answer for an unknown
// task, into NotFound.
func (u upid) unknown(err error) error {
	if e, ok := asError(err); ok && e.Kind == plugin.Invalid && e.Field == "upid" {
		return plugin.Errorf(plugin.NotFound, "task %s does not exist", u.text)
	}
	return err
}
