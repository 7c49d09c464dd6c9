-- +goose Up
-- The secrets among a job's parameters, sealed and bound to its row; params has a placeholder in their place. Null for a job
-- without any, and for one that has ended.
ALTER TABLE jobs ADD COLUMN sealed bytea;

-- +goose Down
ALTER TABLE jobs DROP COLUMN sealed;
