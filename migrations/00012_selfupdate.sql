-- +goose Up
-- What was found when releases were looked for: one row.
CREATE TABLE update_check (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    checked_at  timestamptz,
    -- Why the last look failed; empty when it did not.
    error       text NOT NULL DEFAULT '',
    -- The newest signed manifest, as the source gave it, and when the source last did.
    manifest    bytea,
    found_at    timestamptz,
    -- By channel, the newest manifest that was ever seen: an older one is refused.
    seen        jsonb NOT NULL DEFAULT '{}',
    -- Whether a source and a channel were configured when an instance last looked, and the schedule that goes with them.
    followed    boolean NOT NULL DEFAULT false,
    schedule_id bigint REFERENCES schedules ON DELETE SET NULL
);

-- Who asked for which update. The updater writes the id into its journal. No foreign key: it outlives the user.
CREATE TABLE update_requests (
    id           text PRIMARY KEY,
    version_from text NOT NULL,
    version_to   text NOT NULL,
    -- The machine whose updater was asked.
    machine      text NOT NULL,
    actor_type   text NOT NULL,
    actor_id     bigint,
    actor_email  text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX update_requests_latest ON update_requests (machine, requested_at DESC);

-- The ends of runs that the audit trail tells of already.
CREATE TABLE update_reports (
    run     text PRIMARY KEY,
    told_at timestamptz NOT NULL DEFAULT now()
);

-- Off until a source and a channel are configured.
WITH seed AS (
    INSERT INTO schedules (name, cron, job_kind, enabled, seeded, disabled_reason)
    VALUES ('Look for a new release', '0 4 * * *', 'update.check', false, true, 'no source and channel of releases are configured')
    RETURNING id
)
INSERT INTO update_check (schedule_id) SELECT id FROM seed;

-- +goose Down
DELETE FROM schedules WHERE id IN (SELECT schedule_id FROM update_check) AND seeded;
DROP TABLE update_reports, update_requests, update_check;
