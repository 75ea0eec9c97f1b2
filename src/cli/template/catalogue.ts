/** Sample files and instructions. `{{…}}` is a placeholder everywhere. */
export interface Template {
  summary: string
  /** Source below the templates folder, by output name. */
  files: Readonly<Record<string, string>>
  /** Next steps, one per line. */
  next: readonly string[]
}

const asUser = (words: string): string => `sudo -u {{user}} svc ${words} --data-dir {{data_dir}}`

/** Settings that svc needs behind a proxy on its machine. */
const behindProxy = [
  asUser('config set public_url https://{{host}}'),
  asUser('config set trusted_proxies 127.0.0.1'),
  'sudo systemctl restart svc',
]

export const catalogue: Readonly<Record<string, Template>> = {
  systemd: {
    summary: 'a service of this machine, closed off from the rest of it',
    files: { 'svc.service': 'systemd/svc.service' },
    next: [
      'sudo useradd --system --home-dir {{data_dir}} --shell /usr/sbin/nologin {{user}}',
      'sudo install -d -m 0700 -o {{user}} -g {{user}} {{data_dir}}',
      'sudo install -m 0644 svc.service /etc/systemd/system/',
      asUser('user add NAME --role admin'),
      'sudo systemctl daemon-reload && sudo systemctl enable --now svc',
    ],
  },
  'systemd-backup': {
    summary: 'a backup every night',
    files: {
      'svc-backup.service': 'systemd-backup/svc-backup.service',
      'svc-backup.timer': 'systemd-backup/svc-backup.timer',
    },
    next: [
      'sudo install -d -m 0700 -o {{user}} -g {{user}} /mnt/backup/svc',
      'sudo install -m 0644 svc-backup.service svc-backup.timer /etc/systemd/system/',
      'sudo systemctl daemon-reload && sudo systemctl enable --now svc-backup.timer',
      'sudo systemctl start svc-backup && journalctl -u svc-backup',
    ],
  },
  'systemd-stream': {
    summary: 'every change copied to a folder of backups',
    files: { 'svc-stream.service': 'systemd-stream/svc-stream.service' },
    next: [
      'sudo install -d -m 0700 -o {{user}} -g {{user}} /mnt/backup/svc',
      'sudo install -m 0644 svc-stream.service /etc/systemd/system/',
      'sudo systemctl daemon-reload && sudo systemctl enable --now svc-stream',
      asUser('backup stream --status'),
    ],
  },
  'systemd-sync': {
    summary: 'synchronised folders of a user, kept in step',
    files: { 'svc-sync.service': 'systemd-sync/svc-sync.service' },
    next: [
      'install -D -m 0644 svc-sync.service ~/.config/systemd/user/svc-sync.service',
      'systemctl --user daemon-reload && systemctl --user enable --now svc-sync',
      'loginctl enable-linger   # also while nobody is signed in',
    ],
  },
  caddy: {
    summary: 'proxy that renews its certificate itself',
    files: { Caddyfile: 'caddy/Caddyfile' },
    next: [
      'sudo install -m 0644 Caddyfile /etc/caddy/Caddyfile',
      'sudo caddy validate --adapter caddyfile --config /etc/caddy/Caddyfile && sudo systemctl reload caddy',
      ...behindProxy,
    ],
  },
  nginx: {
    summary: 'proxy with a certificate of certbot',
    files: { 'svc.nginx.conf': 'nginx/svc.nginx.conf' },
    next: [
      'sudo certbot certonly --webroot --webroot-path /var/www/html --domain {{host}}',
      'sudo install -m 0644 svc.nginx.conf /etc/nginx/conf.d/svc.conf',
      'sudo nginx -t && sudo systemctl reload nginx',
      ...behindProxy,
    ],
  },
  apache: {
    summary: 'proxy with a certificate of certbot',
    files: { 'svc.apache.conf': 'apache/svc.apache.conf' },
    next: [
      'sudo certbot certonly --webroot --webroot-path /var/www/html --domain {{host}}',
      'sudo a2enmod proxy_http ssl http2 headers alias reqtimeout',
      'sudo install -m 0644 svc.apache.conf /etc/apache2/sites-available/svc.conf',
      'sudo a2ensite svc && sudo apachectl configtest && sudo systemctl reload apache2',
      ...behindProxy,
    ],
  },
  traefik: {
    summary: 'proxy that renews its certificate itself',
    files: { 'traefik.yaml': 'traefik/traefik.yaml', 'svc.yaml': 'traefik/svc.yaml' },
    next: [
      'sudo install -m 0644 traefik.yaml svc.yaml /etc/traefik/',
      'sudo install -m 0600 /dev/null /etc/traefik/acme.json',
      'sudo systemctl restart traefik',
      ...behindProxy,
    ],
  },
  docker: {
    summary: 'container of svc alone',
    files: { Dockerfile: 'docker/Dockerfile' },
    next: [
      'npm pack, in a clone of svc, and put svc-*.tgz beside the Dockerfile',
      'docker build --tag svc .',
      'docker run --detach --name svc --publish 127.0.0.1:{{port}}:8420 --volume svc-data:/var/lib/svc --volume svc-backups:/var/backups/svc svc',
      'docker exec --interactive --tty svc svc user add NAME --role admin',
      "docker exec svc svc backup schedule '30 3 * * *' --to /var/backups/svc",
    ],
  },
  compose: {
    summary: 'containers of svc and Caddy on one machine',
    files: {
      'compose.yaml': 'compose/compose.yaml',
      Dockerfile: 'docker/Dockerfile',
      Caddyfile: 'compose/Caddyfile',
    },
    next: [
      'npm pack, in a clone of svc, and put svc-*.tgz beside compose.yaml',
      'docker compose up --build --detach',
      'docker compose exec svc svc user add NAME --role admin',
      "docker compose exec svc svc backup schedule '30 3 * * *' --to /var/backups/svc",
    ],
  },
  'compose-cluster': {
    summary: 'containers of two servers, Caddy, Postgres and S3',
    files: {
      'compose.yaml': 'compose-cluster/compose.yaml',
      Dockerfile: 'docker/Dockerfile',
      Caddyfile: 'compose-cluster/Caddyfile',
      'garage.toml': 'compose-cluster/garage.toml',
      'secrets.sh': 'compose-cluster/secrets.sh',
    },
    next: [
      'sh secrets.sh',
      'npm pack, in a clone of svc, and put svc-*.tgz beside compose.yaml',
      'docker compose up --build --detach',
      'docker compose exec svc-1 svc user add NAME --role admin',
      "docker compose exec svc-1 svc backup schedule '30 3 * * *' --to /var/backups/svc",
    ],
  },
  logrotate: {
    summary: 'rotation of a log in a file',
    files: { 'svc.logrotate': 'logrotate/svc.logrotate' },
    next: [
      'sudo install -d -m 0750 -o {{user}} -g {{user}} /var/log/svc',
      'sudo install -m 0644 svc.logrotate /etc/logrotate.d/svc',
      'let svc write there: StandardError= in the unit of systemd (svc template show systemd)',
      'sudo logrotate --debug /etc/logrotate.d/svc',
    ],
  },
  'sample-app': {
    summary: 'an app to begin with: a timer for work and rest',
    files: {
      'focus/app.json': 'sample-app/app.json',
      'focus/index.html': 'sample-app/index.html',
      'focus/focus.css': 'sample-app/focus.css',
      'focus/focus.js': 'sample-app/focus.js',
      'focus/icon.svg': 'sample-app/icon.svg',
    },
    next: ['svc app check focus', 'svc app install focus'],
  },
  'sample-components': {
    summary: 'styles, hooks and widgets for the desktop',
    files: {
      'accent.css': 'sample-components/accent.css',
      'dock.js': 'sample-components/dock.js',
      'clock.widget.html': 'sample-components/clock.widget.html',
      'weather.widget.html': 'sample-components/weather.widget.html',
      'notes.widget.html': 'sample-components/notes.widget.html',
    },
    next: ['begin with them in the app Components of the desktop, or save them with /api/desktop-components.php'],
  },
  'sample-seed': {
    summary: 'a small team to try svc with',
    files: { 'sample-seed.yaml': 'sample-seed.yaml' },
    next: ['svc seed sample-seed.yaml --dry-run', 'svc seed sample-seed.yaml'],
  },
}
