-- +goose Up
-- What people want to be told of. A rule is about all things that have what it watches, or about those that everything given in it fits:
-- team, host, kinds, one of the tags, one of the targets.
CREATE TABLE alert_rules (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The name of a rule that came with the service; null for people's own.
    key         text UNIQUE,
    name        text NOT NULL,
    description text NOT NULL DEFAULT '',
    -- What it watches.
    kind        text NOT NULL,
    team_id     bigint REFERENCES teams ON DELETE CASCADE,
    host_id     bigint REFERENCES hosts ON DELETE CASCADE,
    kinds       text[] NOT NULL DEFAULT '{}',
    tags        text[] NOT NULL DEFAULT '{}',
    targets     text[] NOT NULL DEFAULT '{}',
    -- From where on it is a breach, and from where on it is over; null for kinds that are so or not.
    threshold   double precision,
    clear_level double precision,
    -- How long it must be a breach, and over, in seconds.
    for_s       integer NOT NULL DEFAULT 0 CHECK (for_s >= 0),
    clear_for_s integer NOT NULL DEFAULT 0 CHECK (clear_for_s >= 0),
    severity    text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    labels      jsonb NOT NULL DEFAULT '{}',
    enabled     boolean NOT NULL DEFAULT true,
    -- It came with the service and nobody has changed it: a later release may.
    seeded      boolean NOT NULL DEFAULT false,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    CHECK ((threshold IS NULL) = (clear_level IS NULL))
);
CREATE INDEX alert_rules_team ON alert_rules (team_id) WHERE team_id IS NOT NULL;
CREATE INDEX alert_rules_host ON alert_rules (host_id) WHERE host_id IS NOT NULL;

-- Times in which nobody is told of alerts of what everything given fits: once from starts_at to ends_at, or for duration_s after each
-- time of the cron expression.
CREATE TABLE maintenance_windows (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL,
    enabled    boolean NOT NULL DEFAULT true,
    starts_at  timestamptz,
    ends_at    timestamptz,
    cron       text,
    timezone   text NOT NULL DEFAULT 'UTC',
    duration_s integer,
    team_id    bigint REFERENCES teams ON DELETE CASCADE,
    host_id    bigint REFERENCES hosts ON DELETE CASCADE,
    tags       text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (CASE WHEN cron IS NULL THEN starts_at < ends_at AND duration_s IS NULL
        ELSE duration_s > 0 AND starts_at IS NULL AND ends_at IS NULL END)
);
CREATE INDEX maintenance_windows_team ON maintenance_windows (team_id) WHERE team_id IS NOT NULL;
CREATE INDEX maintenance_windows_host ON maintenance_windows (host_id) WHERE host_id IS NOT NULL;

ALTER TABLE alerts
    ADD COLUMN rule_id         bigint REFERENCES alert_rules ON DELETE SET NULL,
    -- What the rule watches, and what it is about, in words that no two things have in common. target_id of a node and a storage is a host
    -- of its cluster.
    ADD COLUMN kind            text NOT NULL DEFAULT '',
    ADD COLUMN subject         text NOT NULL DEFAULT '',
    ADD COLUMN cluster_id      bigint REFERENCES clusters ON DELETE SET NULL,
    ADD COLUMN node            text NOT NULL DEFAULT '',
    ADD COLUMN tags            text[] NOT NULL DEFAULT '{}',
    ADD COLUMN labels          jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN remedy          text NOT NULL DEFAULT '',
    -- The samples and levels that it was raised by.
    ADD COLUMN why             jsonb NOT NULL DEFAULT '{}',
    -- What people outside were told last: nothing yet, that it is open, that it is resolved; none is what nobody is told.
    ADD COLUMN told            text NOT NULL DEFAULT 'none' CHECK (told IN ('', 'open', 'resolved', 'none')),
    -- The greater matter that it follows from, and the window in which it is: nobody is told while there is one.
    ADD COLUMN cause_id        bigint REFERENCES alerts ON DELETE SET NULL,
    ADD COLUMN window_id       bigint REFERENCES maintenance_windows ON DELETE SET NULL,
    ADD COLUMN ack_note        text NOT NULL DEFAULT '',
    ADD COLUMN silenced_at     timestamptz,
    ADD COLUMN silenced_until  timestamptz,
    ADD COLUMN silenced_by     bigint REFERENCES users ON DELETE SET NULL,
    ADD COLUMN silence_note    text NOT NULL DEFAULT '',
    -- Who resolved it by hand, and why it is over.
    ADD COLUMN resolved_by     bigint REFERENCES users ON DELETE SET NULL,
    ADD COLUMN resolution      text NOT NULL DEFAULT '';
CREATE UNIQUE INDEX alerts_open ON alerts (rule_id, subject) WHERE resolved_at IS NULL AND rule_id IS NOT NULL;
CREATE INDEX alerts_of_rule ON alerts (rule_id, subject, id DESC) WHERE rule_id IS NOT NULL;
CREATE INDEX alerts_unresolved ON alerts (id) WHERE resolved_at IS NULL;
CREATE INDEX alerts_untold ON alerts (id) WHERE told = '' OR told = 'open' AND resolved_at IS NOT NULL;
CREATE INDEX alerts_cause ON alerts (cause_id) WHERE cause_id IS NOT NULL;
CREATE INDEX alerts_cluster ON alerts (cluster_id);
CREATE INDEX alerts_window ON alerts (window_id) WHERE window_id IS NOT NULL;
CREATE INDEX alerts_resolved ON alerts (resolved_at DESC, id DESC) WHERE resolved_at IS NOT NULL;
CREATE INDEX alerts_resolved_team ON alerts (team_id, resolved_at DESC, id DESC) WHERE resolved_at IS NOT NULL;

-- What is a breach at present: for how long, counted over the looks at it, and since when it is over. alert_id is null while it is not
-- long enough. An alert that was resolved by hand keeps its row until the breach is over, so that it is not raised again before.
CREATE TABLE alert_states (
    rule_id  bigint NOT NULL REFERENCES alert_rules ON DELETE CASCADE,
    subject  text NOT NULL,
    breach_s double precision NOT NULL DEFAULT 0,
    clear_s  double precision,
    alert_id bigint REFERENCES alerts ON DELETE CASCADE,
    PRIMARY KEY (rule_id, subject)
);
CREATE INDEX alert_states_alert ON alert_states (alert_id) WHERE alert_id IS NOT NULL;

-- When the rules were last evaluated, and when those that are seldom. Who evaluates them holds the row.
CREATE TABLE alert_cycle (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    last_at   timestamptz,
    seldom_at timestamptz
);
INSERT INTO alert_cycle DEFAULT VALUES;

INSERT INTO alert_rules (key, name, description, kind, kinds, tags, threshold, clear_level, for_s, clear_for_s, severity, enabled, seeded)
SELECT *, true FROM (VALUES
    ('host.offline', 'Host does not answer', 'The service cannot reach a host: nothing that it shows of it is new, and nothing on it can be changed.',
        'host_away', '{}'::text[], '{}'::text[], NULL::float8, NULL::float8, 120, 30, 'critical', true),
    ('host.permission', 'Token lacks privileges', 'A token may do less than its capability needs: some of what the host has is not seen, or jobs will fail.',
        'token_privileges', '{}', '{}', NULL, NULL, 0, 0, 'warning', true),
    ('cluster.quorum', 'Quorum lost', 'A cluster has lost the majority of its votes: nothing in it can be started or changed.',
        'quorum_lost', '{}', '{}', NULL, NULL, 60, 60, 'critical', true),
    ('node.offline', 'Node offline', 'A node of a cluster is off, or the other nodes miss it: its guests do not run.',
        'node_away', '{}', '{}', NULL, NULL, 120, 60, 'critical', true),
    ('node.cpu', 'Node is busy', 'The processors of a node have been almost wholly in use for half an hour: its guests are slow.',
        'cpu', '{node}', '{}', 95, 85, 1800, 600, 'warning', true),
    ('node.memory', 'Node is short of memory', 'A node has almost no free memory left: it will swap, or end guests.',
        'memory', '{node}', '{}', 95, 90, 900, 600, 'warning', true),
    ('node.disk', 'System disk of a node is filling', 'The disk that a node itself lives on is almost full: the node stops working when it is.',
        'disk', '{node}', '{}', 90, 85, 600, 600, 'warning', true),
    ('storage.filling', 'Storage is filling', 'Most of a storage is used: there is still time to clean up.',
        'disk', '{storage}', '{}', 85, 80, 600, 600, 'warning', true),
    ('storage.full', 'Storage is full', 'A storage is as good as full: guests on it stop, and backups to it fail.',
        'disk', '{storage}', '{}', 95, 92, 300, 600, 'critical', true),
    ('storage.fills', 'Storage will be full soon', 'If a storage goes on as in the last two weeks it is full within a week.',
        'storage_fills', '{}', '{}', 7, 10, 3600, 3600, 'warning', true),
    ('container.disk', 'Disk of a container is filling', 'The root disk of a container is almost full: what runs in it will stop writing.',
        'disk', '{app,container}', '{}', 90, 85, 600, 600, 'warning', true),
    ('guest.cpu', 'Guest is busy', 'A guest has used all its processors for an hour. Off at first: many guests do so on purpose.',
        'cpu', '{vm,app,container}', '{}', 95, 80, 3600, 600, 'info', false),
    ('guest.down', 'Guest is down that should run', 'A guest with the tag always-on does not run.',
        'guest_down', '{}', '{always-on}', NULL, NULL, 300, 60, 'critical', true),
    ('backup.stale', 'Backup missing or too old', 'A guest has no backup that is as new as was promised for it.',
        'backup_stale', '{}', '{}', NULL, NULL, 3600, 0, 'warning', true),
    ('backup.unlisted', 'Backups cannot be listed', 'A storage does not tell its backups, so nobody knows how old they are.',
        'backup_unlisted', '{}', '{}', NULL, NULL, 1800, 0, 'warning', true),
    ('certificate.ending', 'Certificate ends', 'The certificate of a host or a node ends within two weeks.',
        'certificate_ending', '{}', '{}', 14, 15, 0, 0, 'warning', true),
    ('token.ending', 'Token ends', 'A token that the service works with ends within two weeks: afterwards the host does not let it in.',
        'token_ending', '{}', '{}', 14, 15, 0, 0, 'warning', true),
    ('data.missing', 'No figures', 'A thing that runs has shown no figures for a quarter of an hour: rules about them cannot see it.',
        'no_data', '{}', '{}', 15, 15, 0, 0, 'warning', true),
    ('app.missing', 'App without its container', 'The container of an app is not there any more.',
        'app_missing', '{}', '{}', NULL, NULL, 0, 0, 'warning', true),
    ('update.available', 'New release of the service', 'A newer release of this service can be installed.',
        'update_available', '{}', '{}', NULL, NULL, 0, 0, 'info', true),
    ('job.failed', 'Job failed', 'The last job of its kind on a thing has failed. Off at first: who asks for a job sees how it ends.',
        'job_failed', '{}', '{}', NULL, NULL, 0, 0, 'warning', false)
) AS seed;

-- What is open of the one rule that there was before goes on.
UPDATE alerts a SET rule_id = r.id, kind = r.kind, subject = 'host:' || a.host_id || ':monitoring', cluster_id = h.cluster_id
    FROM alert_rules r, hosts h WHERE r.key = 'host.permission' AND a.rule = r.key AND h.id = a.host_id AND a.resolved_at IS NULL
        AND NOT EXISTS (SELECT FROM alerts o WHERE o.rule = a.rule AND o.host_id = a.host_id AND o.resolved_at IS NULL AND o.id < a.id);
INSERT INTO alert_states (rule_id, subject, alert_id) SELECT rule_id, subject, id FROM alerts WHERE rule_id IS NOT NULL;

-- +goose Down
DROP TABLE alert_cycle, alert_states;
DROP INDEX alerts_open, alerts_of_rule, alerts_unresolved, alerts_untold, alerts_cause, alerts_cluster, alerts_window, alerts_resolved, alerts_resolved_team;
ALTER TABLE alerts DROP COLUMN rule_id, DROP COLUMN kind, DROP COLUMN subject, DROP COLUMN cluster_id, DROP COLUMN node, DROP COLUMN tags,
    DROP COLUMN labels, DROP COLUMN remedy, DROP COLUMN why, DROP COLUMN told, DROP COLUMN cause_id, DROP COLUMN window_id,
    DROP COLUMN ack_note, DROP COLUMN silenced_at, DROP COLUMN silenced_until, DROP COLUMN silenced_by, DROP COLUMN silence_note,
    DROP COLUMN resolved_by, DROP COLUMN resolution;
DROP TABLE maintenance_windows, alert_rules;
