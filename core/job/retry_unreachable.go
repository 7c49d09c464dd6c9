package job

import (
	"context"
)

// RetryUnreachable repeats ask while the hypervisor cannot be reached, for as long as
// Do would. It is for reads, and for requests that are harmless when repeated.
// A refusal by the hypervisor or by the service, and a verdict, are answers and
// end it; so does the end of the context.
func (r *Run) RetryUnreachable(ctx context.Context, ask func(context.Context) error) error {
	lost := r.newRetrier()
	for {
		err := ask(ctx)
		if err == nil {
			lost.reset()
			return nil
		}
		_, verdict := Verdict(err)
		switch {
		case r.interrupted() != nil:
			return r.interrupted()
		case verdict, ctx.Err() != nil, Refused(err), refusedByUs(err), databaseUnavailable(err), !lost.retry(err):
			return err
		}
		lost.wait(ctx, r.Stopping())
	}
}
