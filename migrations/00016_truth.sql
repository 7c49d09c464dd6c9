-- +goose Up
-- When an answer last listed the guest, of one that the newest answer left out and that may be there all the same; null
-- while it is listed: then clusters.seen_at says when that was.
ALTER TABLE guests ADD COLUMN listed_at timestamptz;
CREATE INDEX guests_left_out ON guests (cluster_id) WHERE listed_at IS NOT NULL;
-- Whether the last answer through the host said of itself that it is not the whole.
ALTER TABLE hosts ADD COLUMN partial boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE hosts DROP COLUMN partial;
DROP INDEX guests_left_out;
ALTER TABLE guests DROP COLUMN listed_at;
