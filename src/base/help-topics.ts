// Documentation pages that `svc help TOPIC` and the Help app show, in this order. Each is src/docs/<name>.md.

export const topics = {
  'getting-started': 'From an empty machine to a synchronised folder',
  synchronisation: 'Synchronising folders: conflicts, undo, ignore files',
  'team-chat': 'Rooms and messages, on the terminal and in scripts',
  writing: 'Notes and documents: formatting, checklists, links',
  calendar: 'Events that repeat, tasks, reminders, in the desktop and in scripts',
  'import-and-export': 'Files of other programs: contacts, calendars, spreadsheets',
  assistant: 'The AI assistant: asking, undoing, configuring a model',
  administration: 'Users, quotas, settings, maintenance, monitoring',
  recovery: 'What to do when something has gone wrong: the pages below',
  'disk-died': 'A dead disk: restoring the latest backup',
  'database-damaged': 'A damaged or missing database',
  'locked-out': 'Lost passwords, locked accounts, lost phones',
  'leaked-token': 'A leaked token or password',
  ransomware: 'Ransomware on a client: stopping it, bringing files back',
  'wrong-deletion': 'Deleted files and accounts: bringing them back',
  'full-disk': 'A full disk: making room',
  'moved-server': 'Moving the server to another machine',
  security: 'What svc protects and how',
  'backup-and-restore': 'Backups, drills, restoring, a lost database',
  durability: 'What survives a power failure, and how',
  'disk-space': 'The largest disk space that one account can occupy',
  'several-machines': 'Postgres, S3 and several servers',
  'http-api': 'Using the HTTP API, with examples',
  'desktop-apps': 'Writing apps and components for the desktop',
  'seed-format': 'The format of a seed file',
  'archive-format': 'The archive of an account',
  performance: 'Measurements and how they were made',
} as const

export type Topic = keyof typeof topics

export const isTopic = (name: string | undefined): name is Topic => name !== undefined && Object.hasOwn(topics, name)

/** A page without comments and images. `link` writes a link to another topic; links to other targets are removed. */
export const readableOf = (markdown: string, link: (label: string, topic: Topic) => string): string =>
  markdown
    .replace(/<!--[^]*?-->\n*/g, '')
    .replace(/!\[[^\]]*\]\([^)]*\)\n*/g, '')
    .replace(/\[([^\]]*)\]\(([a-z-]+)\.md(?:#[a-z-]*)?\)/g, (_, label: string, page: string) =>
      isTopic(page) ? link(label, page) : label,
    )
