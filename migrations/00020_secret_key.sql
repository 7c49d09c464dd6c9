-- +goose Up
-- Which key of the key file seals now: one row, written by a rotation and by whoever starts with a newer file. An instance
-- whose own copy of the file lacks that key has missed a rotation.
CREATE TABLE secret_key (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    id         text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- Every instance hears of it, SQL typed by hand included.
-- +goose StatementBegin
CREATE FUNCTION notify_secret_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('secret_key', '');
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER secret_key_notify AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON secret_key
    FOR EACH STATEMENT EXECUTE FUNCTION notify_secret_key();

-- +goose Down
DROP TABLE secret_key;
DROP FUNCTION notify_secret_key();
