-- +goose Up
-- Samples are stored almost in the order of their time, so that this small index finds one hour of a day.
CREATE INDEX metric_samples_at ON metric_samples USING brin (at) WITH (pages_per_range = 32, autosummarize = on);

-- One row per thing and five minutes, made of metric_samples by core/metric. Partitions are days in UTC.
--
-- Traffic is what passed and no longer a counter: the sum of the increases from one sample to the next. An increase
-- belongs to the time of its later sample, so that nothing is lost between two rows: bytes divided by 300 is the rate. A
-- counter that fell began anew; that step counts as nothing. Null means that no increase is known.
CREATE TABLE metric_5m (
    at           timestamptz NOT NULL, -- where the five minutes begin
    target_kind  text NOT NULL,
    target_id    bigint NOT NULL,
    samples      integer NOT NULL,
    cpu_avg      real,
    cpu_max      real,
    memory_avg   bigint,
    memory_max   bigint,
    -- The last of the time.
    memory_total bigint,
    disk         bigint,
    disk_total   bigint,
    -- Bytes.
    net_in       bigint,
    net_out      bigint,
    disk_read    bigint,
    disk_write   bigint,
    PRIMARY KEY (target_kind, target_id, at)
) PARTITION BY RANGE (at);
CREATE INDEX metric_5m_at ON metric_5m USING brin (at) WITH (pages_per_range = 32, autosummarize = on);

-- The same for hours, made of metric_5m; averages are weighted with the number of samples. Partitions are months in UTC.
CREATE TABLE metric_1h (
    at           timestamptz NOT NULL,
    target_kind  text NOT NULL,
    target_id    bigint NOT NULL,
    samples      integer NOT NULL,
    cpu_avg      real,
    cpu_max      real,
    memory_avg   bigint,
    memory_max   bigint,
    memory_total bigint,
    disk         bigint,
    disk_total   bigint,
    net_in       bigint,
    net_out      bigint,
    disk_read    bigint,
    disk_write   bigint,
    PRIMARY KEY (target_kind, target_id, at)
) PARTITION BY RANGE (at);

-- How far each resolution has come: all time before rolled_to is in it.
CREATE TABLE metric_rollups (
    resolution text PRIMARY KEY CHECK (resolution IN ('5m', '1h')),
    rolled_to  timestamptz NOT NULL
);

-- Hours into which a poll wrote samples so late that they may be past what is rolled up again anyway. A row for each
-- poll and hour; who rolls the hour up again deletes them.
CREATE TABLE metric_late (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hour timestamptz NOT NULL
);

-- +goose Down
DROP TABLE metric_late, metric_rollups, metric_1h, metric_5m;
DROP INDEX metric_samples_at;
