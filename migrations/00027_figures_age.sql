-- +goose Up
-- A cluster's identity as its members tell it; empty where the hypervisor has none. The name is for people where there is one.
-- figures_at is when an inventory last brought figures; those in between tell states only.
ALTER TABLE clusters ADD COLUMN ident text NOT NULL DEFAULT '', ADD COLUMN figures_at timestamptz;
UPDATE clusters SET figures_at = seen_at;
CREATE INDEX clusters_ident ON clusters (team_id, ident) WHERE ident <> '';

-- When a guest's figures were measured, where that was not with those of its cluster; null otherwise. What a poll finds the same is
-- not written again. cpu_seconds is the last reading of a counter of CPU time, and cpu_seconds_at when it was read.
ALTER TABLE guests ADD COLUMN figures_at timestamptz, ADD COLUMN cpu_seconds double precision, ADD COLUMN cpu_seconds_at timestamptz;

-- When the used figures of a node or storage were measured; null when there are none.
ALTER TABLE nodes ADD COLUMN figures_at timestamptz;
UPDATE nodes SET figures_at = seen_at WHERE num_nonnulls(cpu, memory, disk) > 0;
ALTER TABLE storages ADD COLUMN figures_at timestamptz;
UPDATE storages SET figures_at = seen_at WHERE used IS NOT NULL;

-- +goose Down
ALTER TABLE storages DROP COLUMN figures_at;
ALTER TABLE nodes DROP COLUMN figures_at;
ALTER TABLE guests DROP COLUMN figures_at, DROP COLUMN cpu_seconds, DROP COLUMN cpu_seconds_at;
DROP INDEX clusters_ident;
ALTER TABLE clusters DROP COLUMN ident, DROP COLUMN figures_at;
