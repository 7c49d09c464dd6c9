-- +goose Up
-- Since when good polls have not found the container of an app, and for how long such polls have gone on; a time without polls does not count.
ALTER TABLE apps
    ADD COLUMN absent_since timestamptz,
    ADD COLUMN absent_for interval NOT NULL DEFAULT '0';

-- +goose Down
ALTER TABLE apps
    DROP COLUMN absent_since,
    DROP COLUMN absent_for;
