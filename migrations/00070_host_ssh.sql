-- +goose Up
-- That programs may be run as root on a host's machine: who agreed to which text, and when. Without a row nothing logs in there. What the
-- column hosts.ssh_consent says was asked for before there were keys, and nobody is named there: it is no consent.
CREATE TABLE host_ssh_consents (
    host_id    bigint PRIMARY KEY REFERENCES hosts ON DELETE CASCADE,
    -- The text that was agreed to; see core/host.
    version    integer NOT NULL,
    -- Whoever agreed; the address stays when the account goes.
    user_id    bigint REFERENCES users ON DELETE SET NULL,
    user_email text NOT NULL,
    at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX host_ssh_consents_user ON host_ssh_consents (user_id);

-- Keys to log in to a host's machine with.
CREATE TABLE host_ssh_keys (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_id     bigint NOT NULL REFERENCES hosts ON DELETE CASCADE,
    -- One that was seen to work, or one that takes its place when it is.
    state       text NOT NULL CHECK (state IN ('active', 'pending')),
    -- In the form of authorized_keys, without options and comment.
    public_key  text NOT NULL,
    -- Sealed by core/secret, bound to this table, column and row.
    private_key bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    verified_at timestamptz,
    UNIQUE (host_id, state)
);

-- Where the machine's SSH server listens.
ALTER TABLE hosts ADD COLUMN ssh_port integer NOT NULL DEFAULT 22 CHECK (ssh_port BETWEEN 1 AND 65535);

-- +goose StatementBegin
CREATE FUNCTION feed_host_ssh() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, fields)
        VALUES ('host', CASE WHEN TG_OP = 'DELETE' THEN OLD.host_id ELSE NEW.host_id END, 'changed', '{ssh}');
    RETURN NULL;
END
$$;
CREATE FUNCTION feed_host_ssh_port() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feed_changes (kind, object, what, fields) VALUES ('host', NEW.id, 'changed', '{ssh}');
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_changed AFTER INSERT OR UPDATE OR DELETE ON host_ssh_consents FOR EACH ROW EXECUTE FUNCTION feed_host_ssh();
CREATE TRIGGER feed_changed AFTER INSERT OR UPDATE OR DELETE ON host_ssh_keys FOR EACH ROW EXECUTE FUNCTION feed_host_ssh();
CREATE TRIGGER feed_ssh_port AFTER UPDATE ON hosts FOR EACH ROW WHEN (OLD.ssh_port <> NEW.ssh_port) EXECUTE FUNCTION feed_host_ssh_port();

-- +goose Down
DROP TRIGGER feed_ssh_port ON hosts;
ALTER TABLE hosts DROP COLUMN ssh_port;
DROP TABLE host_ssh_keys, host_ssh_consents;
DROP FUNCTION feed_host_ssh(), feed_host_ssh_port();
