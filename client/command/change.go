package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hostler/hostler/client/api"
	"github.com/hostler/hostler/client/output"
	"github.com/hostler/hostler/client/transport"
)

// show sends a GET and prints the response: as a table if columns are given,
// otherwise as fields. limit is the maximum number of rows of a list, or zero
// for all of them. If the list is longer than the limit, it prints a hint to
// standard error, except for programs.
func (s *session) show(ctx context.Context, t target, columns string, limit int) error {
	body, total, err := s.pages(ctx, t.op, t.path, t.query, limit)
	if err != nil {
		return err
	}
	shown := 0
	err = s.answer(ctx, body, func(value any) {
		value = t.rowsOf(value)
		if columns == "" {
			s.screen.Fields(value)
			return
		}
		if rows, ok := value.([]any); ok {
			shown = len(rows)
		}
		s.list(columns, value)
	})
	if err == nil && limit > 0 && shown < total && !s.machine() {
		s.say("Showing %d of %d entries; use --limit 0 to show all.", shown, total)
	}
	return err
}

// change performs an operation that changes something. With --plan it only
// prints the plan and its digest. If the service requires a confirmation phrase
// and a person is at the terminal, it shows the plan, asks for the phrase and
// sends the request a second time. Without a terminal the refusal is the
// result, so that a script never confirms by accident. At the end it follows
// the jobs if --wait was given.
//
// The order is important: the first request is always sent without asking,
// because only the service knows whether an operation needs a phrase.
func (s *session) change(ctx context.Context, t target, a *act) error {
	if a.confirm != "" {
		t.body["confirm"] = a.confirm
	}
	if a.digest != "" {
		t.query.Set("plan_digest", a.digest)
	}
	if a.plan {
		body, plan, err := s.planOf(ctx, t)
		if err != nil {
			return err
		}
		return s.answer(ctx, body, func(any) {
			s.showPlan(s.screen.Print, plan)
			s.screen.Print(s.screen.Colour(output.Bold, "Digest") + "\n  " + output.CleanLine(plan.Digest) + "\n")
		})
	}
	answer, err := s.send(ctx, t)
	var p *transport.Problem
	if errors.As(err, &p) && p.ConfirmPhrase != "" && a.confirm == "" && s.asks() {
		if err := s.askPhrase(ctx, t, p); err != nil {
			return err
		}
		answer, err = s.send(ctx, t)
	}
	if err != nil {
		return err
	}
	return s.result(ctx, t, a, answer)
}

// send sends the request of a target. It is repeated after a broken connection
// only if the operation takes an Idempotency-Key. An operation without body
// fields still gets a body if it needs a confirmation, because the phrase is
// sent in it.
func (s *session) send(ctx context.Context, t target) (*transport.Response, error) {
	client, err := s.connection()
	if err != nil {
		return nil, err
	}
	request := transport.Request{Method: t.op.Method, Path: t.path, Query: t.query, Repeatable: t.op.Key}
	if len(t.op.Body) > 0 || t.op.Confirm {
		if request.Body, err = json.Marshal(t.body); err != nil {
			return nil, err
		}
	}
	return client.Call(ctx, request)
}

// planOf requests the plan of a target with plan=true, which changes nothing.
// It returns the response as it came, for --json, and decoded. The query of the
// target is copied, so that the later request is not a plan as well.
func (s *session) planOf(ctx context.Context, t target) ([]byte, api.Plan, error) {
	var plan api.Plan
	query := url.Values{"plan": {"true"}}
	for name, values := range t.query {
		query[name] = values
	}
	t.query = query
	answer, err := s.send(ctx, t)
	if err != nil {
		return nil, plan, err
	}
	if err := json.Unmarshal(answer.Body, &plan); err != nil {
		return nil, plan, fmt.Errorf("cannot read the plan: %w", err)
	}
	return answer.Body, plan, nil
}

// askPhrase shows the plan and asks for the confirmation phrase. On success it
// stores the phrase in the body and the digest of the plan in the query of the
// target: the service then refuses the request if the plan changed while the
// person was reading. A plan with blockers ends with statusConflict before the
// question, because no phrase could help. A wrong phrase ends with
// statusRefusedPhrase.
func (s *session) askPhrase(ctx context.Context, t target, p *transport.Problem) error {
	if t.op.Plan {
		_, plan, err := s.planOf(ctx, t)
		if err != nil {
			return err
		}
		s.showPlan(s.screen.PrintErr, plan)
		if len(plan.Blockers) > 0 {
			return &failure{statusConflict, "blocked; nothing was changed"}
		}
		t.query.Set("plan_digest", plan.Digest)
	} else {
		s.screen.Say("%s", p.Detail)
	}
	typed, err := s.ask(ctx, "Type "+output.CleanLine(p.ConfirmPhrase)+" to confirm: ")
	if err != nil {
		return err
	}
	if typed != p.ConfirmPhrase {
		return &failure{statusRefusedPhrase, "wrong phrase; nothing was changed"}
	}
	t.body["confirm"] = typed
	return nil
}

// showPlan prints a plan in sections: effects, warnings, blockers and the
// confirmation phrase. Empty sections are left out. write is Print when the
// plan is the result, and PrintErr when it is part of a question.
func (s *session) showPlan(write func(string), plan api.Plan) {
	var out strings.Builder
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			out.WriteString(s.screen.Colour(output.Bold, title) + "\n")
		}
		for _, line := range lines {
			out.WriteString("  " + output.CleanLine(line) + "\n")
		}
	}
	var effects, blockers []string
	for _, effect := range plan.Effects {
		effects = append(effects, effectLine(effect))
	}
	for _, blocker := range plan.Blockers {
		blockers = append(blockers, blocker.Detail)
	}
	section("Effects", effects)
	section("Warnings", plan.Warnings)
	section("Blockers", blockers)
	if plan.ConfirmPhrase != nil {
		section("Confirmation phrase", []string{*plan.ConfirmPhrase})
	}
	if out.Len() == 0 {
		out.WriteString("No effects.\n")
	}
	write(out.String())
}

// effectLine returns an effect as a line, with its size and its time in
// parentheses. The word before the time depends on the kind: data and uptime
// exist "since" then, a backup or a snapshot was "taken" then, and everything
// else is "as of" then. Times are in UTC, like those of the audit log, so that
// plans of two people compare.
func effectLine(effect api.PlanEffect) string {
	var details []string
	if effect.SizeBytes != nil {
		details = append(details, output.Bytes(float64(*effect.SizeBytes)))
	}
	if effect.At != nil {
		word := "as of"
		switch effect.Kind {
		case api.Uptime, api.Data:
			word = "since"
		case api.Backup, api.Snapshot:
			word = "taken"
		}
		details = append(details, word+" "+effect.At.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if len(details) == 0 {
		return effect.Text
	}
	return effect.Text + " (" + strings.Join(details, ", ") + ")"
}

// started is the part of a response that describes jobs. An operation on one
// object returns job; one on several objects returns jobs and skipped, where
// skipped lists the guests that were not changed and why.
type started struct {
	Job     *api.JobView  `json:"job"`
	Jobs    []api.JobView `json:"jobs"`
	Skipped []struct {
		App    string `json:"app"`
		Detail string `json:"detail"`
		Target struct {
			VM  *int64 `json:"vm"`
			App *int64 `json:"app"`
		} `json:"target"`
	} `json:"skipped"`
}

// result prints what a change led to. A response without a body is "Done.", an
// object is shown like any other, and jobs are followed with --wait or
// announced with the command that follows them. With --json or --jq the
// response is printed first, unless --wait replaces it by the result of the
// jobs.
//
// The error determines the exit status. Skipped guests give statusConflict even
// if all jobs succeed. With several jobs all are followed, one after the other,
// and the last failure is returned.
func (s *session) result(ctx context.Context, t target, a *act, answer *transport.Response) error {
	if answer.Status == http.StatusNoContent || len(answer.Body) == 0 {
		s.say("Done.")
		return nil
	}
	var begun started
	if json.Unmarshal(answer.Body, &begun) != nil || begun.Job == nil && begun.Jobs == nil {
		return s.answer(ctx, answer.Body, func(value any) { s.list(t.columns, t.rowsOf(value)) })
	}
	if begun.Job != nil && !slices.ContainsFunc(begun.Jobs, func(j api.JobView) bool { return j.Id == begun.Job.Id }) {
		begun.Jobs = append([]api.JobView{*begun.Job}, begun.Jobs...)
	}
	if s.machine() && !a.wait {
		if err := s.answer(ctx, answer.Body, func(any) {}); err != nil {
			return err
		}
	}
	var worst error
	for _, skipped := range begun.Skipped {
		name := skipped.App
		switch {
		case skipped.Target.VM != nil:
			name = fmt.Sprintf("vm:%d", *skipped.Target.VM)
		case skipped.Target.App != nil:
			name = fmt.Sprintf("app:%d", *skipped.Target.App)
		}
		s.screen.Say("Skipped %s: %s", name, skipped.Detail)
		worst = &failure{status: statusConflict}
	}
	for _, job := range begun.Jobs {
		if !a.wait {
			if !s.machine() {
				s.say("Job %d (%s of %s) is %s. To follow it: hostler job wait %d", job.Id, job.Kind, job.Target.Name, job.Status, job.Id)
			}
			continue
		}
		if err := s.followToEnd(ctx, job.Id, a.timeout); err != nil {
			worst = err
		}
	}
	return worst
}
