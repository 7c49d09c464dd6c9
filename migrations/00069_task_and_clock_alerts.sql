-- +goose Up
-- When the tasks of a cluster are next looked at for the rules about failed ones.
ALTER TABLE clusters ADD COLUMN next_tasks_at timestamptz NOT NULL DEFAULT now();
-- A console that somebody had open: how it ended says nothing.
ALTER TABLE hypervisor_tasks ADD COLUMN console boolean NOT NULL DEFAULT false;
-- By how many seconds the clock of a node is ahead of the service's, and when it told; null where no host that is enrolled is that node.
ALTER TABLE nodes ADD COLUMN clock_ahead double precision, ADD COLUMN clock_at timestamptz;

INSERT INTO alert_rules (key, name, description, kind, threshold, clear_level, for_s, clear_for_s, severity, enabled, seeded) VALUES
    ('task.failed', 'Task of the hypervisor failed', 'The last task of its type on a thing has failed that was not started by this service: '
        'a backup by the hypervisor''s own schedule, or what somebody did in its own page. Consoles do not count.',
        'task_failed', NULL, NULL, 0, 0, 'warning', true, true),
    ('clock.skew', 'Clock is wrong', 'The clocks of a node and of the machine of the service differ: tokens, certificates, schedules '
        'and clusters go wrong by it.',
        'clock_skew', 30, 10, 600, 300, 'warning', true, true);

-- How many alerts follow from another one is shown with that one.
-- +goose StatementBegin
CREATE FUNCTION feed_folded_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team, fields) SELECT 'alert', a.id, 'changed', a.team_id, '{folded}' FROM alerts a
        WHERE a.id IN (SELECT unnest(ARRAY[o.cause_id, n.cause_id]) FROM past o JOIN fresh n ON n.id = o.id
            WHERE o.cause_id IS DISTINCT FROM n.cause_id) ORDER BY a.id;
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_folded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, team, fields) SELECT 'alert', a.id, 'changed', a.team_id, '{folded}' FROM alerts a
        WHERE a.id IN (SELECT cause_id FROM rows) ORDER BY a.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_folded_changed AFTER UPDATE ON alerts REFERENCING OLD TABLE AS past NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION feed_folded_changed();
CREATE TRIGGER feed_folded_new AFTER INSERT ON alerts REFERENCING NEW TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION feed_folded();
CREATE TRIGGER feed_folded_gone AFTER DELETE ON alerts REFERENCING OLD TABLE AS rows FOR EACH STATEMENT EXECUTE FUNCTION feed_folded();

-- +goose Down
DROP TRIGGER feed_folded_changed ON alerts;
DROP TRIGGER feed_folded_new ON alerts;
DROP TRIGGER feed_folded_gone ON alerts;
DROP FUNCTION feed_folded(), feed_folded_changed();
DELETE FROM alert_rules WHERE kind IN ('task_failed', 'clock_skew');
ALTER TABLE nodes DROP COLUMN clock_ahead, DROP COLUMN clock_at;
ALTER TABLE hypervisor_tasks DROP COLUMN console;
ALTER TABLE clusters DROP COLUMN next_tasks_at;
