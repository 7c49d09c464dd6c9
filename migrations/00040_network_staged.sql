-- +goose Up
-- Who has staged changes of a node's network through this service: when they are applied or dropped, their rows go.
CREATE TABLE network_staged (
    cluster_id bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    node       text NOT NULL,
    interface  text NOT NULL,
    action     text NOT NULL CHECK (action IN ('create', 'edit', 'delete')),
    user_id    bigint REFERENCES users ON DELETE SET NULL,
    email      text NOT NULL DEFAULT '',
    at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (cluster_id, node, interface)
);

-- +goose Down
DROP TABLE network_staged;
