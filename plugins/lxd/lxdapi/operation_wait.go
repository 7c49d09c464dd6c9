package lxdapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/hostler/hostler/sdk/plugin"
)

// leastStep is the minimum time between two waiting requests, for a server that
// answers them at once although the operation goes on.
const leastStep = time.Second

// ErrOperationNotFound is in the error of a call about an operation that the
// server does not know: it ended more than 5 s ago, the server was restarted,
// or it never existed. The kind of the error is NotFound.
var ErrOperationNotFound = errors.New("the server no longer knows the operation")

// Operations lists operations that run or ended less than 5 s ago.
func (c *Client) Operations(ctx context.Context, scope Scope) ([]Operation, Meta, error) {
	query, err := scope.recursive()
	if err != nil {
		return nil, Meta{}, err
	}
	var all []Operation
	byState := members(func(string) metadataReader { return rows(&all) })
	meta, err := c.read(ctx, rootPath+"/operations", query, maxList, byState)
	if err != nil {
		return nil, Meta{}, err
	}
	for i := range all {
		all[i].within(scope.Project)
	}
	return all, meta, nil
}

// Operation reads one operation.
func (c *Client) Operation(ctx context.Context, id string) (*Operation, error) {
	if err := checkOperationID(id); err != nil {
		return nil, err
	}
	var op Operation
	if _, err := c.get(ctx, rootPath+"/operations/"+id, nil, &op); err != nil {
		return nil, gone(err)
	}
	return &op, nil
}

// Wait returns when the operation is over. An error means that its end could
// not be found out; Failure of the result says whether it succeeded. For a
// failed operation, Incus only reports the reason, so all other fields but the
// ID are empty.
func (c *Client) Wait(ctx context.Context, id string) (*Operation, error) {
	if err := checkOperationID(id); err != nil {
		return nil, err
	}
	for {
		asked := time.Now()
		op, err := c.waitStep(ctx, id, c.waits.Header)
		if err != nil || op.Ended() {
			return op, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for an operation: %w", ctx.Err())
		case <-time.After(leastStep - time.Since(asked)):
		}
	}
}

// WaitFor is Wait for a limited time, in whole seconds and shorter than the
// time limit of a response. The operation that it returns may still run.
func (c *Client) WaitFor(ctx context.Context, id string, most time.Duration) (*Operation, error) {
	if err := checkOperationID(id); err != nil {
		return nil, err
	}
	return c.waitStep(ctx, id, most)
}

// waitStep asks the server to answer when the operation is over, or after the
// given time, but before the time limit of a response.
func (c *Client) waitStep(ctx context.Context, id string, most time.Duration) (*Operation, error) {
	seconds := max(int(min(most.Seconds(), c.waits.Header.Seconds()*2/3)), 1)
	a, err := c.send(plugin.MarkWaiting(ctx), request{method: http.MethodGet, path: rootPath + "/operations/" + id + "/wait",
		query: map[string][]string{"timeout": {strconv.Itoa(seconds)}}, limit: maxSmall, stays: true})
	if err != nil {
		return nil, gone(err)
	}
	defer a.close()
	var op Operation
	head, err := a.envelope(object(&op))
	switch {
	case head.Type == typeError: // with the status 200: how Incus tells a failure
		return &Operation{ID: id, StatusCode: OperationFailed, Err: scrub(head.Error)}, nil
	case err != nil:
		return nil, err
	case op.ID != id:
		return nil, a.protocol(errShape)
	}
	return &op, nil
}

// Cancel asks the server to end an operation. Few can be canceled: tokens,
// downloads of images, sources of migrations. All others are a Conflict. It
// returns when the server accepted the request.
func (c *Client) Cancel(ctx context.Context, id string) error {
	if err := checkOperationID(id); err != nil {
		return err
	}
	_, err := c.change(ctx, request{method: http.MethodDelete, path: rootPath + "/operations/" + id})
	return gone(err)
}

// gone turns NotFound of an operation into ErrOperationNotFound.
func gone(err error) error {
	if err != nil && plugin.KindOf(err) == plugin.NotFound {
		return plugin.Errorf(plugin.NotFound, "%w", ErrOperationNotFound)
	}
	return err
}
