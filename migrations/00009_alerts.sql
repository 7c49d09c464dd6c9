-- +goose Up
-- The record of every alert that was raised. Nothing writes it yet: the engine that watches metrics and raises alerts is
-- still to come. It is read by the activity feed.
CREATE TABLE alerts (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Null, as for jobs, is for callers with a role in the default team.
    team_id         bigint REFERENCES teams ON DELETE SET NULL,
    host_id         bigint REFERENCES hosts ON DELETE SET NULL,
    target_kind     text NOT NULL,
    target_id       bigint NOT NULL,
    target_name     text NOT NULL,
    -- The rule's name, and what it watches, as they were then.
    rule            text NOT NULL,
    metric          text NOT NULL DEFAULT '',
    severity        text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    message         text NOT NULL DEFAULT '',
    raised_at       timestamptz NOT NULL DEFAULT now(),
    resolved_at     timestamptz,
    acknowledged_at timestamptz,
    acknowledged_by bigint REFERENCES users ON DELETE SET NULL
);
CREATE INDEX alerts_raised ON alerts (raised_at DESC, id DESC);
CREATE INDEX alerts_team ON alerts (team_id, raised_at DESC, id DESC);
CREATE INDEX alerts_host ON alerts (host_id);

-- The newest entries of each source of the activity feed, of the whole instance and of a team. Rows of the trail whose job
-- stands for them are not in the feed; see core/activity.
CREATE INDEX jobs_team ON jobs (team_id, created_at DESC, id DESC);
CREATE INDEX audit_activity ON audit (at DESC, id DESC) WHERE job_id IS NULL OR result <> 'ok';
CREATE INDEX audit_activity_team ON audit (team_id, at DESC, id DESC) WHERE job_id IS NULL OR result <> 'ok';

-- +goose Down
DROP INDEX audit_activity_team, audit_activity, jobs_team;
DROP TABLE alerts;
