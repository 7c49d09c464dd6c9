-- +goose Up
-- Whoever holds an event stream open, on whichever instance, hears at once that their rights have changed: the payload is
-- the user's id, and an empty one means everybody. A trigger catches every path, SQL typed by hand included. NOTIFY
-- takes a lock at commit, so nothing that happens all the time says anything: neither the use of a session nor the
-- deletion of one that had run out long before.
-- +goose StatementBegin
CREATE FUNCTION notify_identity() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- The column that holds the user's id: id in users, user_id in every other table.
    own text := TG_ARGV[0];
BEGIN
    IF TG_LEVEL = 'STATEMENT' THEN
        PERFORM pg_notify('identity', '');
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        PERFORM pg_notify('identity', to_jsonb(OLD) ->> own);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM pg_notify('identity', to_jsonb(NEW) ->> own); -- the same text twice in a transaction is sent once
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER users_notify AFTER UPDATE OF is_active, password_hash ON users FOR EACH ROW
    WHEN (OLD.is_active IS DISTINCT FROM NEW.is_active OR OLD.password_hash IS DISTINCT FROM NEW.password_hash)
    EXECUTE FUNCTION notify_identity('id');
CREATE TRIGGER users_notify_delete AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION notify_identity('id');
CREATE TRIGGER users_notify_truncate AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION notify_identity();

CREATE TRIGGER team_members_notify AFTER INSERT OR UPDATE OR DELETE ON team_members FOR EACH ROW EXECUTE FUNCTION notify_identity('user_id');
CREATE TRIGGER team_members_notify_truncate AFTER TRUNCATE ON team_members FOR EACH STATEMENT EXECUTE FUNCTION notify_identity();

-- A session that has run out has no reader left: an open stream looks at its own session now and then, which also keeps
-- last_seen_at young.
CREATE TRIGGER sessions_notify_delete AFTER DELETE ON sessions FOR EACH ROW
    WHEN (OLD.expires_at > now() AND OLD.last_seen_at > now() - interval '12 hours')
    EXECUTE FUNCTION notify_identity('user_id');
CREATE TRIGGER sessions_notify AFTER UPDATE OF user_id, token_hash, expires_at ON sessions FOR EACH ROW EXECUTE FUNCTION notify_identity('user_id');
CREATE TRIGGER sessions_notify_truncate AFTER TRUNCATE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION notify_identity();

CREATE TRIGGER api_keys_notify_delete AFTER DELETE ON api_keys FOR EACH ROW
    WHEN (OLD.expires_at IS NULL OR OLD.expires_at > now())
    EXECUTE FUNCTION notify_identity('user_id');
CREATE TRIGGER api_keys_notify AFTER UPDATE OF user_id, key_hash, scopes, expires_at ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_identity('user_id');
CREATE TRIGGER api_keys_notify_truncate AFTER TRUNCATE ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION notify_identity();

-- +goose Down
DROP TRIGGER api_keys_notify_truncate ON api_keys;
DROP TRIGGER api_keys_notify ON api_keys;
DROP TRIGGER api_keys_notify_delete ON api_keys;
DROP TRIGGER sessions_notify_truncate ON sessions;
DROP TRIGGER sessions_notify ON sessions;
DROP TRIGGER sessions_notify_delete ON sessions;
DROP TRIGGER team_members_notify_truncate ON team_members;
DROP TRIGGER team_members_notify ON team_members;
DROP TRIGGER users_notify_truncate ON users;
DROP TRIGGER users_notify_delete ON users;
DROP TRIGGER users_notify ON users;
DROP FUNCTION notify_identity();
