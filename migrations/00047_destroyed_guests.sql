-- +goose Up
-- Guests that jobs have destroyed: a hypervisor may list one for some seconds still. Only rows of the last minute mean anything.
CREATE TABLE destroyed_guests (
    cluster_id bigint NOT NULL REFERENCES clusters ON DELETE CASCADE,
    identity text NOT NULL,
    destroyed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (cluster_id, identity)
);

-- +goose Down
DROP TABLE destroyed_guests;
