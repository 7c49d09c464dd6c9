-- +goose Up
-- Where a job must run, because what it needs is there: the id of a folder that one or several instances have.
ALTER TABLE jobs ADD COLUMN place text;

-- When an instance that has such a folder was last at work.
CREATE TABLE job_places (
    id      text PRIMARY KEY,
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE job_places;
ALTER TABLE jobs DROP COLUMN place;
