-- +goose Up
-- What somebody has chosen for pages: a JSON object that the service keeps as text and does not read.
CREATE TABLE user_preferences (
    user_id    bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    value      text NOT NULL CHECK (octet_length(value) <= 8192),
    -- Counts the changes.
    revision   bigint NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE user_preferences;
