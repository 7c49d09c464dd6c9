package job

import (
	"context"
)

// Patiently asks a question again while the hypervisor is lost, for as long as Do would. It is for questions and for requests that do
// no harm twice. What the hypervisor refuses, what the service refuses itself and a verdict are answers, and end it; so does the context.
func (r *Run) Patiently(ctx context.Context, ask func(context.Context) error) error {
	lost := r.newPatience()
	for {
		err := ask(ctx)
		if err == nil {
			lost.over()
			return nil
		}
		_, verdict := Verdict(err)
		switch {
		case r.interrupted() != nil:
			return r.interrupted()
		case verdict, ctx.Err() != nil, Refused(err), refusedByUs(err), databaseAway(err), !lost.again(err):
			return err
		}
		lost.wait(ctx, r.Stopping())
	}
}
