-- +goose Up
-- How a host's credential was handed over, in the driver's words; see sdk/endpoint. All that are there are API tokens.
ALTER TABLE host_credentials ADD COLUMN form text NOT NULL DEFAULT 'token';

-- +goose Down
ALTER TABLE host_credentials DROP COLUMN form;
