-- +goose Up
-- What was asked for in the words of the API, how much of the present task is done as its log tells, and the last line of the
-- transcript. Of jobs from before none of it is known.
ALTER TABLE jobs
    ADD COLUMN asked jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(asked) = 'object'),
    ADD COLUMN share double precision CHECK (share BETWEEN 0 AND 1),
    ADD COLUMN last_line text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE jobs
    DROP COLUMN asked,
    DROP COLUMN share,
    DROP COLUMN last_line;
