package schedules

import (
	"context"
	"time"

	"github.com/hostler/hostler/core/api/op"
)

type timesInput struct {
	Cron     string `query:"cron" required:"true" minLength:"1" maxLength:"256" example:"30 2 * * MON-FRI" doc:"Minute, hour, day of month, month, day of week"`
	Timezone string `query:"timezone" default:"UTC" minLength:"1" maxLength:"64" example:"Europe/Berlin" doc:"Name of a time zone in the IANA database"`
}

// Times has the next times of a cron expression.
type Times struct {
	Times []time.Time `json:"times" doc:"The next five times, soonest first; fewer if the expression has fewer"`
}

// coming is how many times are returned.
const coming = 5

func (h handlers) times(ctx context.Context, in *timesInput) (*op.Body[Times], error) {
	times, err := h.schedules.Times(ctx, in.Cron, in.Timezone, coming)
	return &op.Body[Times]{Body: Times{times}}, err
}
