import type { categories } from '../../contract/app-categories.ts'
import { insertApp } from '../../storage/desktop/apps.ts'
import type { Writer } from '../../storage/engine/database.ts'

interface SystemApp {
  slug: string
  name: string
  description: string
  category: (typeof categories)[number]
  /** Whether its content can be given to the assistant. */
  supports_context?: true
  admin_only?: true
}

/** The apps that come with the desktop. */
const systemApps: readonly SystemApp[] = [
  {
    slug: 'files',
    name: 'Files',
    description: 'Browse and upload files, and restore what was deleted or overwritten.',
    category: 'productivity',
    supports_context: true,
  },
  {
    slug: 'chat',
    name: 'Chat',
    description: 'Talk to others in channels and direct messages.',
    category: 'communication',
    supports_context: true,
  },
  {
    slug: 'assistant',
    name: 'Assistant',
    description: 'Ask questions and hand over tasks.',
    category: 'ai',
  },
  {
    slug: 'notes',
    name: 'Notes',
    description: 'Write down what is not to be forgotten.',
    category: 'productivity',
    supports_context: true,
  },
  {
    slug: 'docs',
    name: 'Docs',
    description: 'Write and keep longer texts.',
    category: 'productivity',
    supports_context: true,
  },
  {
    slug: 'finance',
    name: 'Finance',
    description: 'Keep track of what comes in and goes out.',
    category: 'finance',
    supports_context: true,
  },
  {
    slug: 'places',
    name: 'Places',
    description: 'Collect places and find them again.',
    category: 'maps',
    supports_context: true,
  },
  {
    slug: 'tasks',
    name: 'Tasks',
    description: 'Lists of what is to be done.',
    category: 'productivity',
    supports_context: true,
  },
  {
    slug: 'calendar',
    name: 'Calendar',
    description: 'Appointments by day, week and month.',
    category: 'productivity',
    supports_context: true,
  },
  {
    slug: 'settings',
    name: 'Settings',
    description: 'Profile, password, second factor, sessions and devices.',
    category: 'utility',
  },
  {
    slug: 'components',
    name: 'Components',
    description: 'Change the desktop with own styles, hooks and widgets.',
    category: 'utility',
  },
  {
    slug: 'admin',
    name: 'Administration',
    description: 'Look after users and the service.',
    category: 'utility',
    admin_only: true,
  },
  {
    slug: 'contacts',
    name: 'Contacts',
    description: 'People and companies, and how to reach them.',
    category: 'communication',
    supports_context: true,
  },
  {
    slug: 'bookmarks',
    name: 'Bookmarks',
    description: 'Pages of the web to come back to.',
    category: 'productivity',
    supports_context: true,
  },
  {
    slug: 'help',
    name: 'Help',
    description: 'The documentation of svc.',
    category: 'utility',
  },
  {
    slug: 'apps',
    name: 'Apps',
    description: 'Add apps of your own to the desktop.',
    category: 'utility',
  },
]

const systemSlugs: ReadonlySet<string> = new Set(systemApps.map(({ slug }) => slug))

export const isSystemSlug = (slug: string): boolean => systemSlugs.has(slug)

/** Registers missing system apps; idempotent, also when two processes run it at once. */
export async function seedSystemApps(tx: Writer, now: number): Promise<void> {
  for (const { supports_context, admin_only, ...app } of systemApps) {
    const row = {
      ...app,
      icon_url: '',
      app_path: `/apps/${app.slug}/index.html`,
      supports_context: supports_context ? 1 : 0,
      is_system: 1,
      admin_only: admin_only ? 1 : 0,
      created_by: null,
    }
    await insertApp(tx, row, now)
  }
}
