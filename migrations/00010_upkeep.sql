-- +goose Up
-- What jobs.prune looks for.
CREATE INDEX jobs_finished ON jobs (finished_at, id) WHERE finished_at IS NOT NULL;

-- The service's own housekeeping. Sessions that are over have no effect, so a night's delay costs nothing. Samples are
-- rolled up every hour: who reads the time since then takes the samples themselves.
INSERT INTO schedules (name, cron, job_kind, seeded) VALUES
    ('Prune ended sessions', '20 2 * * *', 'sessions.prune', true),
    ('Prune old jobs', '40 2 * * *', 'jobs.prune', true),
    ('Prune the audit trail', '10 3 * * *', 'audit.prune', true),
    ('Roll up metrics', '7 * * * *', 'metrics.maintain', true);

-- +goose Down
DELETE FROM schedules WHERE seeded AND job_kind IN ('sessions.prune', 'jobs.prune', 'audit.prune', 'metrics.maintain');
DROP INDEX jobs_finished;
