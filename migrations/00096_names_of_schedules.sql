-- +goose Up
-- The service's own schedules in the words of the documentation, unless somebody has renamed them.
UPDATE schedules SET name = 'Prune the audit log' WHERE seeded AND job_kind = 'audit.prune' AND name = 'Prune the audit trail';
UPDATE schedules SET name = 'Check for new releases' WHERE seeded AND job_kind = 'update.check' AND name = 'Look for a new release';

-- +goose Down
UPDATE schedules SET name = 'Prune the audit trail' WHERE seeded AND job_kind = 'audit.prune' AND name = 'Prune the audit log';
UPDATE schedules SET name = 'Look for a new release' WHERE seeded AND job_kind = 'update.check' AND name = 'Check for new releases';
