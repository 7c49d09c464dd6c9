-- +goose Up
-- What a guest does with its volumes and its backups: where a container has them mounted, which it does not use, which belong to another
-- guest, and which backups leave out. A directory or a device of the node is one that is on no storage. What was read before does not say
-- what backups leave out.
ALTER TABLE guest_volumes ADD COLUMN path text NOT NULL DEFAULT '';
ALTER TABLE guest_volumes ADD COLUMN unused boolean NOT NULL DEFAULT false;
ALTER TABLE guest_volumes ADD COLUMN kept boolean NOT NULL DEFAULT false;
ALTER TABLE guest_volumes ADD COLUMN left_out boolean;
CREATE INDEX guest_volumes_left_out ON guest_volumes (guest_id) WHERE left_out;

-- +goose Down
DELETE FROM guest_volumes WHERE storage = '';
DROP INDEX guest_volumes_left_out;
ALTER TABLE guest_volumes DROP COLUMN left_out, DROP COLUMN kept, DROP COLUMN unused, DROP COLUMN path;
