package hypervisor

import (
	"iter"

	"github.com/hostler/hostler/sdk/plugin/wire"
	hypervisorv1 "github.com/hostler/hostler/sdk/proto/hostler/hypervisor/v1"
)

// What one message of a log carries at most, and what of one line: nobody reads a line of a megabyte, and it would be a
// message that cannot be sent.
const (
	chunkLines = 1000
	chunkBytes = 1 << 20
	lineBytes  = 1 << 20
)

// chunks cuts a log into messages of bearable size; an empty log is one empty chunk.
func chunks(lines []LogLine) iter.Seq[[]LogLine] {
	return func(yield func([]LogLine) bool) {
		for {
			n, size := 0, 0
			for n < len(lines) && n < chunkLines && (n == 0 || size+len(lines[n].Text) <= chunkBytes) {
				size += len(lines[n].Text)
				n++
			}
			if !yield(lines[:n]) || n == len(lines) {
				return
			}
			lines = lines[n:]
		}
	}
}

func linesToProto(lines []LogLine) []*hypervisorv1.LogLine {
	out := make([]*hypervisorv1.LogLine, len(lines))
	for i, l := range lines {
		if len(l.Text) > lineBytes {
			l.Text = l.Text[:lineBytes] + "…"
		}
		out[i] = &hypervisorv1.LogLine{Number: int64(l.N), Text: wire.Text(l.Text)}
	}
	return out
}

func lineFromProto(l *hypervisorv1.LogLine) LogLine {
	return LogLine{N: int(l.GetNumber()), Text: l.GetText()}
}
