package plan

import (
	"context"
	"errors"
	"net/http"

	"github.com/hostler/hostler/core/problem"
)

// Request is what a caller wants with regard to the plan.
type Request struct {
	// Only asks for the plan and for nothing to be done.
	Only bool
	// Digest is that of the plan which the caller has seen; empty where none was.
	Digest string
}

type questionKey struct{}

// WithRequest puts a question into the context of a request.
func WithRequest(ctx context.Context, q Request) context.Context {
	return context.WithValue(ctx, questionKey{}, q)
}

// Result is the error by which an operation that was only planned ends: nothing was done.
type Result struct{ Plan *Plan }

func (*Result) Error() string { return "only the plan was requested" }

// ResultIn is the Result in an error, or nil.
func ResultIn(err error) *Result {
	var a *Result
	if errors.As(err, &a) {
		return a
	}
	return nil
}

// Builder is a plan in the making. It belongs to one request.
type Builder struct {
	question Request
	plan     Plan
}

// Begin begins the plan that the context's request is about.
func Begin(ctx context.Context) *Builder {
	q, _ := ctx.Value(questionKey{}).(Request) // none is the zero one
	return &Builder{question: q, plan: Plan{Effects: []Effect{}, Warnings: []string{}, Blockers: []Blocker{}}}
}

// PlanOnly reports whether nothing is to be done.
func (d *Builder) PlanOnly() bool { return d.question.Only }

// Refuse lets a refusal pass: it returns err as it is. Where only a plan is wanted, one with the status 409 or 501 becomes a blocker,
// one of a hypervisor that does not answer a warning, and nil is returned.
func (d *Builder) Refuse(err error) error {
	var p *problem.Error
	if !d.question.Only || !errors.As(err, &p) {
		return err
	}
	switch p.Status() {
	case http.StatusConflict, http.StatusNotImplemented:
		d.plan.Blockers = append(d.plan.Blockers, Blocker{Error: string(p.Code), Detail: p.Detail})
		return nil
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		d.plan.Warn("The hypervisor did not answer: %s", p.Detail)
		return nil
	}
	return err
}

// RefuseAndStop is Refuse for what leaves nothing more to be looked at: where the refusal becomes a part of the plan, the plan ends with
// it. It is nil only where err is.
func (d *Builder) RefuseAndStop(ctx context.Context, err error, c Confirmation) error {
	if err == nil {
		return nil
	}
	if err := d.Refuse(err); err != nil {
		return err
	}
	return d.Finish(ctx, c, func(context.Context, *Plan) error { return nil })
}

// Confirmation is what an operation wants to be confirmed.
type Confirmation struct {
	// Code is problem.CodeConfirmRequired or CodeSelfTarget; empty where nothing is to be confirmed.
	Code problem.Code
	// Phrase is what is to be typed, Why the sentence that says why.
	Phrase, Why string
	// Given says that the caller has typed it.
	Given bool
	// IsSelf says that the service itself is hit.
	IsSelf bool
}

// Finish ends the draft. Its errors: an Result where only the plan is wanted; the code of a Confirmation that was not given, with the
// plan; plan_stale, with the plan, where the digest that was sent is another; and those of effects, which writes into the plan what
// would happen. effects is not called where nobody wants to know.
func (d *Builder) Finish(ctx context.Context, c Confirmation, effects func(ctx context.Context, p *Plan) error) error {
	refused := c.Code != "" && !c.Given
	if !d.question.Only && !refused && d.question.Digest == "" {
		return nil
	}
	d.plan.IsSelf = c.IsSelf
	if c.Code != "" {
		d.plan.ConfirmPhrase = &c.Phrase
	}
	if err := effects(ctx, &d.plan); err != nil {
		return err
	}
	d.plan.seal()
	switch {
	case d.question.Only:
		return &Result{Plan: &d.plan}
	case d.question.Digest != "" && d.question.Digest != d.plan.Digest:
		return problem.New(problem.CodePlanStale, "the plan is out of date: something has changed since you requested it; review the "+
			"new plan").
			With("plan", &d.plan)
	case refused:
		return problem.Confirm(c.Code, c.Phrase, "%s", c.Why).With("plan", &d.plan)
	}
	return nil
}
