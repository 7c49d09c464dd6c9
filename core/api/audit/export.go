package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hostler/hostler/core/api/op"
	"github.com/hostler/hostler/core/audit"
	"github.com/hostler/hostler/core/identity"
	"github.com/hostler/hostler/core/problem"
)

type exportInput struct {
	Filter
	Format string `query:"format" enum:"csv,jsonl" default:"csv" doc:"csv: a table with a header line; jsonl: one JSON object per line, with the fields of the list"`
}

// exports is how many exports one instance runs at a time. Each holds a
// connection to the database for as long as its reader takes.
const exports = 4

const (
	typeCSV   = "text/csv; charset=utf-8"
	typeJSONL = "application/x-ndjson"
)

// export writes every entry that matches the filters to a file. The export
// itself gets an entry in the audit log, with the names of the filters.
func (h handlers) export(ctx context.Context, in *exportInput, file *op.File) error {
	audit.Describe(ctx, func(e *audit.Entry) {
		e.TargetKind = "audit"
		e.Detail("format", in.Format)
		e.Detail("filters", in.given())
	})
	contentType, line := typeCSV, appendCSV
	if in.Format == "jsonl" {
		contentType, line = typeJSONL, appendJSON
	}
	if err := file.Open(contentType, "audit-"+time.Now().UTC().Format(time.DateOnly)+"."+in.Format); err != nil {
		return err
	}
	select {
	case h.exports <- struct{}{}:
		defer func() { <-h.exports }()
	default:
		busy := problem.New(problem.CodeRateLimited, "%d exports are already running; try again when one has ended", exports)
		busy.RetryAfter = 10
		return busy
	}
	var buffer []byte
	if in.Format == "csv" {
		if _, err := file.Write([]byte(csvNames)); err != nil {
			return err
		}
	}
	return audit.Each(ctx, h.db, in.of(identity.FromContext(ctx).VisibleAs(identity.Admin)), func(r *audit.Record) error {
		buffer = line(buffer[:0], r)
		_, err := file.Write(buffer)
		return err
	})
}

// given returns the names of the filters that are set. It omits their values,
// which may be confidential.
func (in *Filter) given() []string {
	names := []string{}
	for _, filter := range []struct {
		name  string
		given bool
	}{
		{"action", in.Action != ""}, {"search", in.Search != ""}, {"actor_type", in.ActorType != ""}, {"result", in.Result != ""},
		{"actor", in.Actor != 0}, {"target", in.Target != ""},
		{"from_", !in.From.IsZero()}, {"to", !in.To.IsZero()},
	} {
		if filter.given {
			names = append(names, filter.name)
		}
	}
	return names
}

const csvNames = "id,at,actor_type,actor_id,actor_email,action,target_kind,target_id,target_name,result," +
	"error,address,request_id,job_id,host_id,details\r\n"

// appendCSV appends a record in the form of RFC 4180. encoding/csv is not used:
// with the line ends that the RFC requires, it changes line breaks inside of
// cells.
func appendCSV(b []byte, r *audit.Record) []byte {
	b = append(b, r.ID...)
	b = append(b, ',')
	b = appendTime(b, r.At)
	for _, cell := range [...][]byte{
		r.ActorType, r.ActorID, r.ActorEmail, r.Action, r.TargetKind, r.TargetID, r.TargetName,
		r.Result, r.Error, r.Address, r.RequestID, r.JobID, r.HostID, r.Details,
	} {
		b = appendCell(append(b, ','), cell)
	}
	return append(b, '\r', '\n')
}

// appendCell appends one cell. If a spreadsheet would treat the cell as a
// formula, an apostrophe comes first.
func appendCell(b, cell []byte) []byte {
	apostrophe := formula(cell)
	if !bytes.ContainsAny(cell, "\",\r\n") {
		if apostrophe {
			b = append(b, '\'')
		}
		return append(b, cell...)
	}
	b = append(b, '"')
	if apostrophe {
		b = append(b, '\'')
	}
	for {
		i := bytes.IndexByte(cell, '"')
		if i < 0 {
			break
		}
		b = append(append(b, cell[:i+1]...), '"')
		cell = cell[i+1:]
	}
	return append(append(b, cell...), '"')
}

// formula reports whether a cell begins like a formula: with a sign, with white
// space that programs skip, or with the full-width form of a sign.
func formula(cell []byte) bool {
	if len(cell) == 0 {
		return false
	}
	switch cell[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		return true
	case 0xEF:
		for _, sign := range [...]string{"\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"} {
			if bytes.HasPrefix(cell, []byte(sign)) {
				return true
			}
		}
	}
	return false
}

// appendTime appends a time in the format of the list.
func appendTime(b []byte, at time.Time) []byte { return at.AppendFormat(b, time.RFC3339Nano) }

// appendJSON appends a record as a JSON object and a line end, with the fields
// of the list. It uses no reflection, which would take most of the time of an
// export. A test compares its output with the list.
func appendJSON(b []byte, r *audit.Record) []byte {
	b = append(append(b, `{"id":`...), r.ID...)
	b = append(appendTime(append(b, `,"at":"`...), r.At), '"')
	b = appendText(append(b, `,"actor_type":`...), r.ActorType)
	b = appendNumber(append(b, `,"actor_id":`...), r.ActorID)
	b = appendOptional(append(b, `,"actor_email":`...), r.ActorEmail)
	b = appendText(append(b, `,"action":`...), r.Action)
	if len(r.TargetKind) == 0 && len(r.TargetName) == 0 {
		b = append(b, `,"target":null`...)
	} else {
		b = appendText(append(b, `,"target":{"kind":`...), r.TargetKind)
		b = appendOptional(append(b, `,"id":`...), r.TargetID)
		b = append(appendOptional(append(b, `,"name":`...), r.TargetName), '}')
	}
	b = appendText(append(b, `,"result":`...), r.Result)
	b = appendOptional(append(b, `,"error":`...), r.Error)
	b = appendOptional(append(b, `,"address":`...), r.Address)
	b = appendOptional(append(b, `,"request_id":`...), r.RequestID)
	b = appendNumber(append(b, `,"job_id":`...), r.JobID)
	b = appendNumber(append(b, `,"host_id":`...), r.HostID)
	b = append(append(b, `,"details":`...), r.Details...)
	return append(b, '}', '\n')
}

func appendNumber(b, digits []byte) []byte {
	if digits == nil {
		return append(b, "null"...)
	}
	return append(b, digits...)
}

func appendOptional(b, text []byte) []byte {
	if len(text) == 0 {
		return append(b, "null"...)
	}
	return appendText(b, text)
}

// appendText appends a JSON string. It uses encoding/json only for text that
// has characters to escape.
func appendText(b, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c > '~' {
			var quoted bytes.Buffer
			encoder := json.NewEncoder(&quoted)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(string(text)); err != nil {
				panic(fmt.Sprintf("a text cannot be encoded as JSON: %v", err)) // there is no such text
			}
			return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
