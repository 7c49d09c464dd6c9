package plugin

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	pluginv1 "github.com/hostler/hostler/sdk/proto/hostler/plugin/v1"
)

// RequestCount is what a plugin process has sent to one address since it was last asked.
type RequestCount struct {
	// Address is that of the target, as the calls had it.
	Address string
	// Requests counts those that were tried, and those that were tried again.
	Requests int64
	// Busy is how long they kept the other side at work: from a connection to the end of the answer.
	Busy time.Duration
}

// CountRequest counts one request to the address that the call of ctx is about, which kept it busy for so long. CountRequests does this
// for what goes over HTTP. The service shows both figures for each host, and nothing where a plugin counts nothing. Outside of a call of
// the service it does nothing.
func CountRequest(ctx context.Context, busy time.Duration) {
	a, ok := ctx.Value(accountKey{}).(*account)
	if !ok {
		return
	}
	if ctx.Value(waitingKey{}) != nil {
		busy = 0
	}
	a.ledger.add(a.address(), max(busy, 0))
}

// Waiting marks requests by which a hypervisor is only waited for, such as one that is answered when a task has ended: they count, and
// their time does not.
func Waiting(ctx context.Context) context.Context { return context.WithValue(ctx, waitingKey{}, true) }

type (
	accountKey struct{}
	waitingKey struct{}
)

// account is where the requests of one call are counted. The address of a stream is known with its first message.
type account struct {
	ledger *ledger
	mu     sync.Mutex
	at     string
}

func (a *account) address() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at
}

// open notes the address of a request that has one.
func (a *account) open(req any) {
	reaching, ok := req.(interface{ GetTarget() *pluginv1.Target })
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = reaching.GetTarget().GetAddress()
}

// maxAddresses bounds what is remembered while nobody asks.
const maxAddresses = 10_000

// ledger has the counts of a process. Its methods may be called at the same time.
type ledger struct {
	mu   sync.Mutex
	sent map[string]*RequestCount
}

func newLedger() *ledger { return &ledger{sent: map[string]*RequestCount{}} }

// with is the context of a call whose requests are counted, and its account.
func (l *ledger) with(ctx context.Context) (context.Context, *account) {
	a := &account{ledger: l}
	return context.WithValue(ctx, accountKey{}, a), a
}

func (l *ledger) add(address string, busy time.Duration) {
	if address == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.sent[address]
	if c == nil {
		if len(l.sent) >= maxAddresses {
			return
		}
		c = &RequestCount{Address: address}
		l.sent[address] = c
	}
	c.Requests++
	c.Busy += busy
}

// take gives what there is, by address, and begins anew.
func (l *ledger) take() []RequestCount {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := make([]RequestCount, 0, len(l.sent))
	for _, address := range slices.Sorted(maps.Keys(l.sent)) {
		counts = append(counts, *l.sent[address])
	}
	clear(l.sent)
	return counts
}

// TakeRequests answers PluginService with the counts of the server that NewServer made.
func (d *describer) TakeRequests(ctx context.Context, _ *pluginv1.TakeRequestsRequest) (*pluginv1.TakeRequestsResponse, error) {
	answer := &pluginv1.TakeRequestsResponse{}
	if a, ok := ctx.Value(accountKey{}).(*account); ok {
		for _, c := range a.ledger.take() {
			answer.Sent = append(answer.Sent, &pluginv1.SentRequests{Address: c.Address, Requests: c.Requests, Microseconds: c.Busy.Microseconds()})
		}
	}
	return answer, nil
}

// TakeRequests asks the plugin at the other end of a connection what it has sent to hypervisors since it was last asked. One that was
// built before there was this question is Unsupported.
func TakeRequests(ctx context.Context, conn grpc.ClientConnInterface) ([]RequestCount, error) {
	answer, err := pluginv1.NewPluginServiceClient(conn).TakeRequests(ctx, &pluginv1.TakeRequestsRequest{})
	if err != nil {
		return nil, CallError(ctx, err)
	}
	counts := make([]RequestCount, 0, len(answer.GetSent()))
	for _, s := range answer.GetSent() {
		counts = append(counts, RequestCount{
			Address: s.GetAddress(), Requests: s.GetRequests(), Busy: time.Duration(s.GetMicroseconds()) * time.Microsecond,
		})
	}
	return counts, nil
}
