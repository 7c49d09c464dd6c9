package op

import "context"

// smallBody is the size in bytes up to which a body is checked at once. Larger
// ones are checked as many at a time as there are processors.
const smallBody = 16 << 10

// check inspects the body of an operation. It takes the slot only after the
// whole body has arrived, so that a slow sender occupies none.
func (a *API) check(ctx context.Context, o *Operation, body []byte) (findings, error) {
	if len(body) > smallBody {
		select {
		case a.checking <- struct{}{}:
			defer func() { <-a.checking }()
		case <-ctx.Done():
			return findings{}, ctx.Err()
		}
	}
	return inspect(body, []any{"body"}, a.huma.OpenAPI().Components.Schemas, o.body), nil
}
