package firewall

import (
	"context"

	"github.com/hostler/hostler/sdk/plugin/wire"
	firewallv1 "github.com/hostler/hostler/sdk/proto/hostler/firewall/v1"
)

type logServer struct {
	firewallv1.UnimplementedLogServiceServer
	*server
}

func (f *remoteFirewall) Log(ctx context.Context, scope Scope, query LogQuery) (Log, error) {
	if err := refuse[LogReader](f, scope); err != nil {
		return Log{}, err
	}
	req := &firewallv1.LogRequest{Target: f.target, Scope: scopeToProto(scope), Query: logQueryToProto(query)}
	answer, err := wire.Call(ctx, firewallv1.NewLogServiceClient(f.client.conn).Log, req)
	return Log{Lines: wire.Each(answer.GetLines(), logLineFromProto), Total: int(answer.GetTotal())}, err
}

func (s *logServer) Log(ctx context.Context, req *firewallv1.LogRequest) (*firewallv1.LogResponse, error) {
	return serve(ctx, s.server, req, func(fw LogReader, scope Scope) (*firewallv1.LogResponse, error) {
		log, err := fw.Log(ctx, scope, logQueryFromProto(req.GetQuery()))
		return &firewallv1.LogResponse{Lines: wire.Each(log.Lines, logLineToProto), Total: int64(log.Total)}, err
	})
}

func logQueryToProto(q LogQuery) *firewallv1.LogQuery {
	return &firewallv1.LogQuery{
		Start: int64(q.Start), Limit: int64(q.Limit), Since: wire.Timestamp(q.Since), Until: wire.Timestamp(q.Until),
	}
}

func logQueryFromProto(q *firewallv1.LogQuery) LogQuery {
	return LogQuery{
		Start: int(q.GetStart()), Limit: int(q.GetLimit()), Since: wire.Time(q.GetSince()), Until: wire.Time(q.GetUntil()),
	}
}

// logLineToProto cuts what is longer than a line may be, so that an answer fits into a message.
func logLineToProto(l LogLine) *firewallv1.LogLine {
	out := &firewallv1.LogLine{N: int64(l.N), Text: wire.Text(l.Text[:min(len(l.Text), MaxLogLine)])}
	if e := l.Entry; e != nil {
		out.Entry = &firewallv1.LogEntry{
			Time: wire.Timestamp(e.Time), Guest: wire.Text(e.Guest), Scope: wire.Text(string(e.Scope)), Group: wire.Text(e.Group),
			Level: wire.Text(e.Level), Chain: wire.Text(e.Chain),
			Direction: wire.Text(e.Direction), Action: wire.Text(e.Action), Protocol: wire.Text(e.Protocol), Source: wire.Text(e.Source),
			Destination: wire.Text(e.Destination), SourcePort: wire.Text(e.SourcePort), DestinationPort: wire.Text(e.DestinationPort),
			InterfaceIn: wire.Text(e.InterfaceIn), InterfaceOut: wire.Text(e.InterfaceOut),
		}
	}
	return out
}

func logLineFromProto(l *firewallv1.LogLine) LogLine {
	out := LogLine{N: int(l.GetN()), Text: l.GetText()}
	if e := l.GetEntry(); e != nil {
		out.Entry = &LogEntry{
			Time: wire.Time(e.GetTime()), Guest: e.GetGuest(), Scope: ScopeKind(e.GetScope()), Group: e.GetGroup(),
			Level: e.GetLevel(), Chain: e.GetChain(), Direction: e.GetDirection(),
			Action: e.GetAction(), Protocol: e.GetProtocol(), Source: e.GetSource(), Destination: e.GetDestination(),
			SourcePort: e.GetSourcePort(), DestinationPort: e.GetDestinationPort(), InterfaceIn: e.GetInterfaceIn(),
			InterfaceOut: e.GetInterfaceOut(),
		}
	}
	return out
}
