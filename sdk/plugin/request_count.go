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

// RequestCount is the number of requests that a plugin process has sent to one
// address since the last TakeRequests.
type RequestCount struct {
	// Address is the address of the target in the calls.
	Address string
	// Requests counts attempts, including retries.
	Requests int64
	// Busy is the total time for which the requests kept the other side busy: from
	// the connection to the end of the response.
	Busy time.Duration
}

// CountRequest counts one request to the target of the call of ctx, which kept it
// busy for that time. CountRequests does this for HTTP. The service shows both
// figures for each host, and nothing if the plugin does not count. Outside of a
// call of the service CountRequest does nothing.
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

// MarkWaiting marks requests that only wait for a hypervisor, such as one that is
// answered when a task ends. They count, but their time does not.
func MarkWaiting(ctx context.Context) context.Context {
	return context.WithValue(ctx, waitingKey{}, true)
}

// accountKey and waitingKey are keys of context values.
type (
	accountKey struct{}
	waitingKey struct{}
)

// account is where the requests of one call are counted. The address of a streaming
// call is known only after its first message.
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

// open stores the address of a request that has a target.
func (a *account) open(req any) {
	reaching, ok := req.(interface{ GetTarget() *pluginv1.Target })
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = reaching.GetTarget().GetAddress()
}

// maxAddresses limits the number of addresses that are remembered while the service
// does not ask.
const maxAddresses = 10_000

// ledger contains the counts of a process. It is safe for concurrent use.
type ledger struct {
	mu   sync.Mutex
	sent map[string]*RequestCount
}

func newLedger() *ledger { return &ledger{sent: map[string]*RequestCount{}} }

// with returns the context of a call whose requests are counted, and its account.
func (l *ledger) with(ctx context.Context) (context.Context, *account) {
	a := &account{ledger: l}
	return context.WithValue(ctx, accountKey{}, a), a
}

// add counts one request. A new address is ignored once the ledger is full.
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

// take returns the counts, sorted by address, and resets them.
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

// TakeRequests implements PluginService. It returns the counts of the server that
// NewServer created.
func (d *describer) TakeRequests(ctx context.Context, _ *pluginv1.TakeRequestsRequest) (*pluginv1.TakeRequestsResponse, error) {
	answer := &pluginv1.TakeRequestsResponse{}
	if a, ok := ctx.Value(accountKey{}).(*account); ok {
		for _, c := range a.ledger.take() {
			answer.Sent = append(answer.Sent, &pluginv1.SentRequests{Address: c.Address, Requests: c.Requests, Microseconds: c.Busy.Microseconds()})
		}
	}
	return answer, nil
}

// TakeRequests returns the requests that a plugin has sent to hypervisors since the
// last call, and resets the counts. A plugin that was built with an older SDK is
// Unsupported.
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
