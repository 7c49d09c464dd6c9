-- +goose Up
-- What has begun that lasts, such as an open console, and is to have a row of its end in the trail too. Should the process end that has
-- it, another one writes that row.
CREATE TABLE audit_underway (
    key      text PRIMARY KEY,
    -- The action of the end, and the row of the beginning.
    action   text NOT NULL,
    entry    jsonb NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT now(),
    -- Moves while the process that has it lives.
    seen_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_underway_seen ON audit_underway (seen_at);

-- What people did about an alert, each time; the alert itself has the last of each.
CREATE TABLE alert_acts (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id bigint NOT NULL REFERENCES alerts ON DELETE CASCADE,
    at       timestamptz NOT NULL DEFAULT now(),
    what     text NOT NULL CHECK (what IN ('acknowledged', 'silenced')),
    by       bigint REFERENCES users ON DELETE SET NULL,
    note     text NOT NULL DEFAULT '',
    -- Until when it is silenced.
    until    timestamptz
);
CREATE INDEX alert_acts_alert ON alert_acts (alert_id, id);
CREATE INDEX alert_acts_by ON alert_acts (by) WHERE by IS NOT NULL;
INSERT INTO alert_acts (alert_id, at, what, by, note)
    SELECT id, acknowledged_at, 'acknowledged', acknowledged_by, ack_note FROM alerts WHERE acknowledged_at IS NOT NULL;
INSERT INTO alert_acts (alert_id, at, what, by, note, until)
    SELECT id, silenced_at, 'silenced', silenced_by, silence_note, silenced_until FROM alerts WHERE silenced_at IS NOT NULL;

-- +goose Down
DROP TABLE alert_acts, audit_underway;
