-- +goose Up
-- Which instance runs a job, until it lets go of it; null while none does. One that ended without letting go is among those that have
-- crashed on the job, one after the other, since it last got further.
ALTER TABLE jobs
    ADD COLUMN runner text,
    ADD COLUMN crashed text[] NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE jobs DROP COLUMN crashed, DROP COLUMN runner;
