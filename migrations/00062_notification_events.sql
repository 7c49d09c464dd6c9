-- +goose Up
-- What people may want to be told. Whoever knows of it writes a row in the transaction in which it happens; who is told, and where,
-- is decided later, and once.
CREATE TABLE notification_events (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Null, as for jobs, is for people with a role in the default team.
    team_id     bigint REFERENCES teams ON DELETE SET NULL,
    -- alert, job_failed, backup_report, new_login, update_done, update_rolled_back, test.
    kind        text NOT NULL,
    -- The same for the beginning and the end of one matter; empty where there is no end.
    incident    text NOT NULL DEFAULT '',
    state       text NOT NULL CHECK (state IN ('open', 'resolved', 'told')),
    severity    text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    -- The alert's rule, and what the event is about, as they were then.
    rule        text NOT NULL DEFAULT '',
    target_kind text NOT NULL DEFAULT '',
    target_id   bigint,
    target_name text NOT NULL DEFAULT '',
    tags        text[] NOT NULL DEFAULT '{}',
    title       text NOT NULL,
    body        text NOT NULL DEFAULT '',
    -- A path of the page, from its root.
    link        text NOT NULL DEFAULT '',
    -- Whose matter it is alone, such as a log-in; null where it is the team's.
    user_id     bigint REFERENCES users ON DELETE CASCADE,
    at          timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX notification_events_incident ON notification_events (incident) WHERE incident <> '';
CREATE INDEX notification_events_at ON notification_events (at);

-- +goose Down
DROP TABLE notification_events;
