-- What a measurement of each arm costs, in the order of the names, each number as eight bytes, little-endian; NULL without costs.
ALTER TABLE cutline_arms ADD COLUMN costs BYTEA;
