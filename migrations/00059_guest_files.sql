-- +goose Up
-- Hook scripts and snippets that a guest's configuration names are kept beside its disks. What was read before lacks them.
ALTER TABLE guest_volumes ADD COLUMN file boolean NOT NULL DEFAULT false;
UPDATE guest_details SET partial = true WHERE as_of IS NOT NULL;

-- +goose Down
DELETE FROM guest_volumes WHERE file;
ALTER TABLE guest_volumes DROP COLUMN file;
