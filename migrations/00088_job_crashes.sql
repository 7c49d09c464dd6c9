-- +goose Up
-- Which instance runs a job, until it lets go of it; null while none does. One that ended without letting go is among those that have
-- crashed on the job, one after the other, since a run of it last ended in order.
ALTER TABLE jobs
    ADD COLUMN runner text,
    ADD COLUMN crashed text[] NOT NULL DEFAULT '{}',
    ADD COLUMN crashed_at timestamptz;

-- When an instance was last at work: one that only lost its connection to the database is seen again.
CREATE TABLE job_instances (
    id      text PRIMARY KEY,
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE job_instances;
ALTER TABLE jobs DROP COLUMN crashed_at, DROP COLUMN crashed, DROP COLUMN runner;
