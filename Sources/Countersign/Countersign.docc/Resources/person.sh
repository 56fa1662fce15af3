export COUNTERSIGN_URL=http://127.0.0.1:8080
export COUNTERSIGN_TOKEN=$(cat countersign-data/bootstrap.token)
countersign client create --name "ACME Shop" --json > client.json

export COUNTERSIGN_TOKEN="$(jq -r '.client_id + ":" + .client_secret' client.json)"
countersign user create --external-id customer-1
countersign user ticket customer-1 --json | jq -r .qr
