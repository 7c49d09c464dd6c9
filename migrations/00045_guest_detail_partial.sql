-- +goose Up
-- A guest whose configuration may name more volumes than were kept of it, such as in changes that wait for a restart. Of what was read
-- before nobody knows.
ALTER TABLE guest_details ADD COLUMN partial boolean NOT NULL DEFAULT true;

-- +goose Down
ALTER TABLE guest_details DROP COLUMN partial;
