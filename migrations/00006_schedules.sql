-- +goose Up
CREATE TABLE schedules (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            text NOT NULL,
    cron            text NOT NULL,
    timezone        text NOT NULL DEFAULT 'UTC',
    job_kind        text NOT NULL,
    params          jsonb NOT NULL DEFAULT '{}',
    enabled         boolean NOT NULL DEFAULT true,
    -- Null while it is off, and until an instance has computed it.
    next_run_at     timestamptz CHECK (enabled OR next_run_at IS NULL),
    last_run_at     timestamptz,
    last_job_id     bigint REFERENCES jobs ON DELETE SET NULL,
    -- Why the last time that it was due started no job.
    last_error      text NOT NULL DEFAULT '',
    -- Why the service itself has switched it off.
    disabled_reason text NOT NULL DEFAULT '',
    -- Who wrote it last: it runs with that user's rights. The e-mail stays when the user goes, and then it runs no more.
    writer_id       bigint REFERENCES users ON DELETE SET NULL,
    writer_email    text NOT NULL DEFAULT '',
    -- It came with the service and nobody has changed it: it runs as the service itself.
    seeded          boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    -- When it was last written, not when it last ran.
    updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX schedules_due ON schedules (next_run_at) WHERE enabled;
CREATE INDEX schedules_last_job ON schedules (last_job_id);

ALTER TABLE jobs ADD COLUMN schedule_id bigint REFERENCES schedules ON DELETE SET NULL;
CREATE INDEX jobs_schedule ON jobs (schedule_id) WHERE schedule_id IS NOT NULL;

-- +goose Down
ALTER TABLE jobs DROP COLUMN schedule_id;
DROP TABLE schedules;
