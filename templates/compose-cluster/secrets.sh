#!/bin/sh
# Makes the secrets of compose.yaml, once: in the folder secrets/ beside this file, which nobody else may enter. Containers get
# single files of it, and their users have other numbers than those of this machine; so the files are readable, the folder is not.
set -eu

cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo 'secrets/ already exists and is not changed. With new secrets, the database and the second factors could not be decrypted.' >&2
  exit 1
fi

umask 077
# Nothing exists until everything is complete.
made=$(mktemp -d ./secrets.XXXXXX)
trap 'rm -rf "$made"' EXIT

random() {
  openssl rand -hex "$1"
}

secret_key=$(random 32)
password=$(random 24)
access_key=GK$(random 12)
access_secret=$(random 32)
rpc_secret=$(random 32)

echo "$secret_key" >"$made/secret.key"
echo "$password" >"$made/postgres.password"
chmod 444 "$made/secret.key" "$made/postgres.password"

cat >"$made/svc.env" <<END
SVC_DATABASE=postgres://svc:$password@postgres/svc
AWS_ACCESS_KEY_ID=$access_key
AWS_SECRET_ACCESS_KEY=$access_secret
END

cat >"$made/store.env" <<END
GARAGE_RPC_SECRET=$rpc_secret
GARAGE_DEFAULT_ACCESS_KEY=$access_key
GARAGE_DEFAULT_SECRET_KEY=$access_secret
END

sync
mv "$made" secrets
trap - EXIT
echo 'Made secrets/. Keep a copy of it in a safe place, with the backups nowhere near it.'
