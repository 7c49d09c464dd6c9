-- +goose Up
-- When a volume that backups had left out was first seen to be in them: a backup from before may lack it.
ALTER TABLE guest_volumes ADD COLUMN included_at timestamptz;
DROP INDEX guest_volumes_left_out;
CREATE INDEX guest_volumes_left_out ON guest_volumes (guest_id) WHERE left_out OR included_at IS NOT NULL;

-- +goose Down
DROP INDEX guest_volumes_left_out;
ALTER TABLE guest_volumes DROP COLUMN included_at;
CREATE INDEX guest_volumes_left_out ON guest_volumes (guest_id) WHERE left_out;
