-- +goose Up
-- The alerts of a thing, for the marks beside its series.
CREATE INDEX alerts_target ON alerts (target_kind, target_id);

-- +goose Down
DROP INDEX alerts_target;
