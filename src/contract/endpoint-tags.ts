import type { contract } from './contract.ts'

interface Tag {
  name: string
  description: string
}

/** The tag of each endpoint in the OpenAPI document. */
export const endpointTags: Record<keyof typeof contract, Tag> = {
  syncAuth: { name: 'Sync: sign-in', description: 'Device tokens: sign in with a device, and look after its tokens.' },
  syncData: {
    name: 'Sync: data',
    description: 'The rows of an account: all of them, what changed, and changes to them.',
  },
  syncFiles: { name: 'Sync: files', description: 'The files of an account, one by one and in batches.' },
  syncStatus: { name: 'Sync: status', description: 'The server itself: whether it answers, and what it can do.' },
  sessionLogin: { name: 'Session: login', description: 'Sign in with a browser.' },
  sessionLogin2fa: { name: 'Session: second factor', description: 'Complete the login of a browser.' },
  session: { name: 'Session', description: 'Who is signed in.' },
  sessionLogout: { name: 'Session: logout', description: 'Sign out.' },
  accountSettings: { name: 'Account', description: 'The own profile, password, second factor, sessions and devices.' },
  setup: { name: 'Set-up', description: 'The first administrator.' },
  rows: { name: 'Rows', description: 'The rows of an account for browser sessions.' },
  filesystem: { name: 'Files', description: 'The own files, and below `/Teamchat` the files of chat rooms.' },
  trash: { name: 'Trash', description: 'Deleted files and folders that can be restored.' },
  versions: { name: 'Versions', description: 'Earlier contents of files.' },
  teamChat: { name: 'Team chat', description: 'Rooms, messages, reactions and presence.' },
  search: { name: 'Search', description: 'Everything of an account by the words in it.' },
  assistant: {
    name: 'Assistant',
    description: 'Questions, conversations, confirmations, and what the assistant changed.',
  },
  desktopComponents: {
    name: 'Desktop components',
    description: 'Styles, hooks and widgets of the own desktop, with versions and profiles.',
  },
  apps: { name: 'Apps', description: 'Apps of the desktop.' },
  admin: {
    name: 'Administration',
    description: 'Accounts, storage, maintenance, backups and the audit log, for administrators.',
  },
}
