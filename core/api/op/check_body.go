package op

import "context"

// smallBody is checked at once; of larger ones as many at a time as there are processors, in bytes.
const smallBody = 16 << 10

// check inspects the body of an operation. The slot is taken when all of the body is there: a slow sender holds none.
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
