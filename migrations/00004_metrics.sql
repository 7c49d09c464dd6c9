-- +goose Up
-- One row per thing and poll. Partitions are days in UTC, made ahead and dropped by core/metric.
CREATE TABLE metric_samples (
    at           timestamptz NOT NULL,
    target_kind  text NOT NULL, -- host, node, guest, storage
    target_id    bigint NOT NULL,
    cpu          real,
    memory       bigint,
    memory_total bigint,
    disk         bigint,
    disk_total   bigint,
    net_in       bigint,
    net_out      bigint,
    disk_read    bigint,
    disk_write   bigint
) PARTITION BY RANGE (at);
CREATE INDEX metric_samples_target ON metric_samples (target_kind, target_id, at);

-- +goose Down
DROP TABLE metric_samples;
