-- +goose Up
-- When the hypervisor last told who is in the cluster and whether it has quorum; null before it did.
ALTER TABLE clusters ADD COLUMN membership_at timestamptz;

-- +goose Down
ALTER TABLE clusters DROP COLUMN membership_at;
