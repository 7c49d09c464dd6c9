-- +goose Up
-- A backup that two clusters list and of which nothing shows that it is of the guest that it is linked to.
ALTER TABLE backups ADD COLUMN doubtful boolean NOT NULL DEFAULT false;
CREATE INDEX backups_same ON backups (guest_ref, taken_at);

-- +goose Down
DROP INDEX backups_same;
ALTER TABLE backups DROP COLUMN doubtful;
