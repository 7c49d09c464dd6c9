-- +goose Up
-- The job that holds a thing besides the one that it is about, so that a later run of the job has the hold of a process that died.
ALTER TABLE job_holds ADD COLUMN job_id bigint REFERENCES jobs (id) ON DELETE CASCADE;
CREATE INDEX job_holds_job ON job_holds (job_id);

-- +goose Down
ALTER TABLE job_holds DROP COLUMN job_id;
