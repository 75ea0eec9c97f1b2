// Who may import whom. The table is the check: what a floor's list does not name, its files may not import, types included.
const floors = {
  docs: [],
  base: [],
  host: ['base'],
  contract: [],
  outside: ['base', 'host', 'contract'],
  storage: ['base', 'host'],
  domain: ['base', 'contract', 'storage'],
  client: ['base', 'host', 'contract'],
  desktop: ['base', 'contract', 'client', 'docs'],
  http: ['base', 'contract', 'domain'],
  wiring: ['base', 'host', 'contract', 'storage', 'domain', 'http', 'client', 'outside'],
  cli: ['base', 'host', 'contract', 'domain', 'client', 'wiring', 'docs'],
}

const remedies = {
  docs: 'docs holds pages of documentation and no code.',
  base: 'base knows no word of svc. Take what is needed as an argument, or move this file to the floor it speaks of.',
  host: 'host knows this machine but no word of svc. Take what is needed as an argument, or move this file up.',
  contract:
    'The contract is data that a browser can load. Put what computes into domain or client, and what is small and general beside its user.',
  outside:
    'outside talks to what is not ours: pages, models, the sandbox. What it needs of svc is handed to it as an argument.',
  storage: 'storage holds rows and bytes and decides nothing. Return what the caller needs and decide in domain.',
  domain:
    'The domain knows no HTTP, terminal or environment. Take the value or the function as an argument; wiring passes it in.',
  client:
    'The client knows a server only through the contract. Ask over the wire; what both sides compute belongs to base or contract.',
  desktop: 'The desktop runs in a browser: it speaks the contract through the client.',
  http: 'http translates between requests and the domain. Ask a function of the domain, and add one if none says it.',
  wiring: 'wiring puts the parts together and is used by the command line only. Hand commands what they need instead.',
  cli: 'A command asks the domain or the client, and wiring opens both. Add what is missing there.',
}

// Exceptions to the table: { from: 'src/http/app.ts', to: '^src/storage/files/blobs/', reason: '…' }. Each is a debt, so say why it is worth it.
const exceptions = []

const floorRule = (name, path, pathNot, allowed) => ({
  name: `floor-${name}`,
  comment: `${remedies[name]} (${name} may import: ${floors[name].join(', ') || 'nothing of svc'})`,
  severity: 'error',
  from: { path, pathNot },
  to: { path: '^src/', pathNot: [`^src/(${[name, ...floors[name]].join('|')})/`, ...allowed] },
})

const exactly = (file) => `^${file.replaceAll('.', '[.]')}$`

const floorRules = [
  ...Object.keys(floors).map((name) =>
    floorRule(
      name,
      `^src/${name}/`,
      exceptions.map(({ from }) => exactly(from)),
      [],
    ),
  ),
  ...exceptions.map(({ from, to }) => floorRule(from.split('/')[1], exactly(from), [], [to])),
]

/** What a room of storage may import of the others. */
const storageRooms = {
  engine: [],
  feed: ['engine'],
  files: ['engine', 'feed'],
  accounts: ['engine', 'feed', 'files'],
  chat: ['engine', 'feed', 'files', 'accounts'],
  assistant: ['engine'],
  desktop: ['engine'],
  instance: ['engine', 'feed', 'accounts'],
  contents: ['engine', 'files', 'accounts', 'instance'],
  backups: ['engine', 'accounts', 'contents'],
  search: ['engine'],
}

const storageRoom = `^src/storage/(${Object.keys(storageRooms).join('|')})/`

const storageRules = Object.entries(storageRooms).map(([room, others]) => ({
  name: `storage-${room}`,
  comment: `A room of storage knows those below it (${room} may import: ${others.join(', ') || 'no other'}). Move what both need down.`,
  severity: 'error',
  // A migration makes the triggers of every room.
  from: { path: `^src/storage/${room}/`, pathNot: '^src/storage/engine/migrations/[0-9]' },
  to: { path: '^src/storage/', pathNot: `^src/storage/(${[room, ...others].join('|')})/` },
}))

/** What a room of the client may import of the others; all of them use the files directly in client. */
const clientRooms = {
  http: [],
  auth: ['http'],
  files: ['http'],
  rows: ['replica/replica-records'],
  ask: ['http'],
  chat: ['http', 'files'],
  replica: ['http', 'auth', 'rows'],
  sync: ['http', 'auth', 'files', 'replica'],
}

const clientRules = Object.entries(clientRooms).map(([room, others]) => ({
  name: `client-${room}`,
  comment: `A room of the client knows those that its line in clientRooms names (${others.join(', ') || 'no other'}). Move what both need down.`,
  severity: 'error',
  from: { path: `^src/client/${room}/` },
  to: { path: '^src/client/[^/]+/', pathNot: `^src/client/(${[room, ...others].join('|')})([.]|/)` },
}))

/** What a room of wiring may import of the others; files directly in wiring put the rooms together. */
const wiringRooms = {
  installation: [],
  config: ['installation'],
  seed: [],
  backups: ['[^/]+[.]ts', 'installation', 'config'],
  doctor: ['[^/]+[.]ts', 'installation', 'config'],
}

const wiringRules = Object.entries(wiringRooms).map(([room, others]) => ({
  name: `wiring-${room}`,
  comment: 'A room of wiring knows those that its line in wiringRooms names. Move what both need down.',
  severity: 'error',
  from: { path: `^src/wiring/${room}/` },
  to: { path: '^src/wiring/', pathNot: `^src/wiring/(${[room, ...others].join('|')})(/|$)` },
}))

/** Packages by name, wherever and in whatever form they resolve: installed, as types only, or not at all. */
const packages = (...names) => `(^|node_modules/)(@types/)?(${names.join('|')})(/|$)`

const rules = [
  {
    name: 'known-floor',
    comment: 'Every source file stands on a floor of the table above. Move it to one; a new floor needs a line there.',
    severity: 'error',
    from: { path: '^src/', pathNot: `^src/(${Object.keys(floors).join('|')})/` },
    to: {},
  },
  {
    name: 'fastify-in-http-only',
    comment: 'Only http knows Fastify. Pass plain values and functions across the floor instead.',
    severity: 'error',
    from: { pathNot: '^src/http/' },
    to: { path: packages('fastify', 'fastify-plugin', '@fastify/[^/]+') },
  },
  {
    name: 'databases-in-storage-only',
    comment:
      "Only storage speaks SQL to the server's database. Add a query to the family it belongs to in storage, and call that.",
    severity: 'error',
    from: { pathNot: '^src/storage/' },
    to: { path: packages('kysely', 'pg') },
  },
  {
    name: 'sqlite-through-host-only',
    comment:
      'Which build of SQLite fits is decided once, in host. Open a database with src/host/sqlite-engine.ts or src/host/sqlite-file.ts.',
    severity: 'error',
    from: { pathNot: '^src/host/' },
    to: { path: packages('better-sqlite3', 'better-sqlite3-napi') },
  },
  {
    name: 'desktop-app-alone',
    comment:
      'An app of the desktop is a page of its own: it knows the kit and the wire, neither the shell nor another app. What two need belongs to the kit.',
    severity: 'error',
    from: { path: '^src/desktop/apps/([^/]+)/' },
    to: { path: '^src/desktop/(shell|apps)/', pathNot: '^src/desktop/apps/$1/' },
  },
  {
    name: 'desktop-kit-below',
    comment: 'Kit and wire serve shell and apps and know neither.',
    severity: 'error',
    from: { path: '^src/desktop/(kit|wire)/' },
    to: { path: '^src/desktop/(shell|apps)/' },
  },
  {
    name: 'desktop-packages-in-desktop-only',
    comment: 'What draws pages is of use in a browser only.',
    severity: 'error',
    from: { pathNot: '^src/desktop/' },
    to: { path: packages('preact', '@preact/[^/]+', 'lucide', 'dompurify', '@codemirror/[^/]+') },
  },
  {
    name: 'desktop-takes-what-browsers-load',
    comment:
      'Of the client, the desktop takes what speaks the contract and what knows of rooms, streams and files of rows; the rest needs Node.',
    severity: 'error',
    from: { path: '^src/desktop/' },
    to: {
      path: '^src/client/',
      pathNot:
        '^src/client/(api|errors|http/(response|transport)|ask/event-stream|chat/(chat-state|emoji|message-log|room-folder|room-names)|rows/(calendars|event-uid|file-formats|import-words|known-rows|row-files))[.]ts$',
    },
  },
  {
    name: 'no-node-in-base-and-contract',
    comment:
      'base, contract and desktop run in a browser. What needs Node belongs to host (general) or to a higher floor.',
    severity: 'error',
    from: { path: '^src/(base|contract|desktop)/' },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'sync-through-its-face',
    comment:
      'The sync engine is used through src/client/sync/index.ts only. Export what is needed there; what others need too belongs directly in src/client.',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/client/sync/' },
    to: { path: '^src/client/sync/', pathNot: '^src/client/sync/index[.]ts$' },
  },
  {
    name: 'sync-plan-is-pure',
    comment:
      'A plan is a function of three trees. Read the disk in local, ask the server in remote, and hand the plan what they found.',
    severity: 'error',
    from: { path: '^src/client/sync/plan/' },
    to: { path: '^src/', pathNot: '^src/(base/|client/(files/path-rules|refused)[.]ts$|client/sync/plan/)' },
  },
  {
    name: 'sync-plan-without-node',
    comment: 'A plan computes: it touches neither disk nor network. What needs Node belongs to local or apply.',
    severity: 'error',
    from: { path: '^src/client/sync/(plan|undo/undo-plan)' },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'sync-rooms-below-apply',
    comment: 'state, local and remote serve apply and undo, and know neither. Pass in what they need.',
    severity: 'error',
    from: { path: '^src/client/sync/(state|local|remote)/' },
    to: { path: '^src/client/sync/(apply|undo)/' },
  },
  {
    name: 'domain-feature-through-its-face',
    comment:
      'A feature of the domain reaches another only through its face, src/domain/<feature>/<feature>.ts. Export what is needed there, or let the caller pass it in.',
    severity: 'error',
    from: { path: '^src/domain/([^/]+)/' },
    to: { path: '^src/domain/[^/]+/', pathNot: ['^src/domain/$1/', '^src/domain/([^/]+)/\\1[.]ts$'] },
  },
  {
    name: 'http-leaf-alone',
    comment:
      'A handler does not import a file of another feature. What both need is a function of the domain, or a file directly in src/http.',
    severity: 'error',
    from: { path: '^src/http/([^/]+)/' },
    to: { path: '^src/http/[^/]+/', pathNot: '^src/http/$1/' },
  },
  {
    name: 'cli-leaf-alone',
    comment:
      'A command does not import a file of another noun. What both need belongs to domain or client, or to a file directly in src/cli.',
    severity: 'error',
    from: { path: '^src/cli/([^/]+)/' },
    to: { path: '^src/cli/[^/]+/', pathNot: '^src/cli/$1/' },
  },
  {
    name: 'no-tests-in-sources',
    comment: 'Sources do not import tests or benchmarks. Move what is shared into src.',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: '^(test|bench)/' },
  },
  {
    name: 'no-cycles',
    comment:
      'Two files that need each other are one file, or lack a third: move what both need into a file of its own.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-orphans',
    comment: 'Nothing imports this file and it imports nothing. Remove it, or name it here if it is an entry.',
    severity: 'error',
    from: { orphan: true, pathNot: ['[.]d[.]ts$', '^src/desktop/service-worker/'] },
    to: {},
  },
  {
    name: 'resolvable',
    comment: 'This import leads nowhere. Local imports are relative paths to a file; packages stand in package.json.',
    severity: 'error',
    from: {},
    // Installed only where Node is new enough for it.
    to: { couldNotResolve: true, pathNot: ['^better-sqlite3-napi$', '^virtual:wire-actions$'] },
  },
]

module.exports = {
  forbidden: [
    {
      name: 'known-storage-room',
      comment: 'Every file of storage stands in a room of the table above.',
      severity: 'error',
      from: { path: '^src/storage/', pathNot: storageRoom },
      to: {},
    },
    ...floorRules,
    ...storageRules,
    ...clientRules,
    ...wiringRules,
    ...rules,
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.json', '.d.ts'],
    },
  },
}
