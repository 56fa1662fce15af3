countersign challenge receipt "$(jq -r .id challenge.json)" --out .
gpg --import certificate.asc
gpg --verify receipt.asc
