-- +goose Up
-- What a guest last told of its addresses, and when.
ALTER TABLE guests ADD COLUMN addresses text[], ADD COLUMN addresses_at timestamptz;

-- What is done at once to a thing that jobs work on, one at a time, keeps its jobs off until it is done. What died goes with time.
CREATE TABLE job_holds (
    id        bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    exclusive text NOT NULL UNIQUE,
    until     timestamptz NOT NULL
);

-- +goose Down
DROP TABLE job_holds;
ALTER TABLE guests DROP COLUMN addresses, DROP COLUMN addresses_at;
