-- Webhooks were replaced by `cutline serve --notify`, which stores nothing.
DROP TABLE cutline_deliveries;
DROP TABLE cutline_webhooks;
DROP TABLE cutline_watches;
