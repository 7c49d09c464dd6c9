-- +goose Up
-- What was done to one thing, the newest first, without reading all of the trail.
CREATE INDEX audit_target ON audit (target_kind, target_id, at DESC, id DESC);

-- +goose Down
DROP INDEX audit_target;
