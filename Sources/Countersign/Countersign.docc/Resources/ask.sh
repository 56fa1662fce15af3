countersign challenge ask --user customer-1 --type confirm \
    --message "Pay EUR 1,250.00 to ACME GmbH?" \
    --detail "Amount=EUR 1,250.00" --detail "Payee=ACME GmbH" --json > challenge.json
jq -r .number challenge.json
