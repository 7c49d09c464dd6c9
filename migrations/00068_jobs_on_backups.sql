-- +goose Up
-- A restore over a guest has the backup for its target, and the guest in what it holds: lists of a guest's jobs find it there.
CREATE INDEX jobs_on_backups ON jobs (exclusive) WHERE target_kind = 'backup';

-- +goose Down
DROP INDEX jobs_on_backups;
