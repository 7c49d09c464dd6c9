-- +goose Up
-- Which actions of the audit trail a webhook is told: whole ones, and beginnings that end in a star.
ALTER TABLE notification_channels ADD COLUMN audit_actions text[] NOT NULL DEFAULT '{}';

-- The place of the trail's chain behind which a webhook is told next; null for one that is told nothing of the trail. skipped is how many
-- rows were too old to be told when their turn came.
ALTER TABLE notification_queues ADD COLUMN audit_seq bigint, ADD COLUMN audit_skipped bigint NOT NULL DEFAULT 0;

-- The row of the trail that an event tells. It is read when it is sent: what was cleared from the trail meanwhile is not told.
ALTER TABLE notification_events ADD COLUMN audit_id bigint;

-- +goose Down
DELETE FROM notification_events WHERE audit_id IS NOT NULL;
ALTER TABLE notification_events DROP COLUMN audit_id;
ALTER TABLE notification_queues DROP COLUMN audit_skipped, DROP COLUMN audit_seq;
ALTER TABLE notification_channels DROP COLUMN audit_actions;
