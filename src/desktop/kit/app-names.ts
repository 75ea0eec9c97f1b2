import { catalogue } from './language.ts'

const names = catalogue(
  {
    files: 'Files',
    chat: 'Team chat',
    assistant: 'Assistant',
    notes: 'Notes',
    docs: 'Docs',
    finance: 'Finance',
    places: 'Places',
    tasks: 'Tasks',
    calendar: 'Calendar',
    contacts: 'Contacts',
    bookmarks: 'Bookmarks',
    settings: 'Settings',
    help: 'Help',
    components: 'Components',
    apps: 'Apps',
    admin: 'Administration',
  },
  {
    files: 'Dateien',
    chat: 'Team-Chat',
    assistant: 'Assistent',
    notes: 'Notizen',
    docs: 'Dokumente',
    finance: 'Finanzen',
    places: 'Orte',
    tasks: 'Aufgaben',
    calendar: 'Kalender',
    contacts: 'Kontakte',
    bookmarks: 'Lesezeichen',
    settings: 'Einstellungen',
    help: 'Hilfe',
    components: 'Komponenten',
    apps: 'Apps',
    admin: 'Administration',
  },
)

/** Built-in apps, in the order of the dock and the launcher. */
export const builtInApps = [
  'files',
  'chat',
  'assistant',
  'notes',
  'docs',
  'tasks',
  'calendar',
  'contacts',
  'bookmarks',
  'finance',
  'places',
  'settings',
  'help',
  'components',
  'apps',
  'admin',
] as const

type BuiltInApp = (typeof builtInApps)[number]

interface AppIdentity {
  slug: string
  is_system: boolean
  app_path: string
}

/** The slug of a built-in app; undefined for other apps. */
export function builtInSlug({ slug, is_system, app_path }: AppIdentity): BuiltInApp | undefined {
  const builtIn = builtInApps.find((name) => name === slug)
  return is_system && app_path === `/apps/${slug}/index.html` ? builtIn : undefined
}

export function nameOfApp(app: AppIdentity & { name: string }): string {
  const builtIn = builtInSlug(app)
  return builtIn ? names(builtIn) : app.name
}

export function nameOfSlug(slug: string): string {
  const builtIn = builtInApps.find((name) => name === slug)
  return builtIn ? names(builtIn) : slug
}
