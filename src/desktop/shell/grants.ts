import type { FeedTable } from '../../contract/tables.ts'
import type { ActionName } from '../wire/actions.ts'
import type { AppMessage } from '../wire/protocol.ts'

export type DesktopChange = Extract<
  AppMessage['type'],
  'set-preferences' | 'refresh-apps' | 'reload-app' | 'sign-out' | 'refresh-user'
>

interface Grant {
  actions: readonly ActionName[]
  /** Tables that the app may read and watch, and write if the contract allows it. */
  tables?: readonly FeedTable[]
  /** Changes of the desktop that it may make; `true` for all. */
  desktop?: true | readonly DesktopChange[]
  /** Whether it may preview components. */
  components?: true
}

const rows: readonly ActionName[] = ['rows.list', 'rows.push']

/** What each built-in app may request. Everything else is refused, even if code was injected into the app. */
export const grants: Readonly<Record<string, Grant>> = {
  settings: {
    actions: [
      'accountSettings.2fa_status',
      'accountSettings.setup_2fa',
      'accountSettings.enable_2fa',
      'accountSettings.disable_2fa',
      'accountSettings.regenerate_backup_codes',
      'accountSettings.change_password',
      'accountSettings.profile',
      'accountSettings.update_profile',
      'accountSettings.sessions',
      'accountSettings.revoke_session',
      'accountSettings.security_events',
      'accountSettings.devices',
      'accountSettings.revoke_device',
      'filesystem.quota',
    ],
    desktop: true,
  },
  help: { actions: [] },
  files: {
    actions: [
      'filesystem.list',
      'filesystem.read',
      'filesystem.write',
      'filesystem.mkdir',
      'filesystem.trash',
      'filesystem.move',
      'filesystem.copy',
      'filesystem.upload',
      'filesystem.download',
      'filesystem.thumbnail',
      'filesystem.archive',
      'filesystem.photos',
      'filesystem.quota',
      'trash.list',
      'trash.restore',
      'trash.delete',
      'trash.empty',
      'versions.list',
      'versions.download',
      'versions.restore',
    ],
    tables: ['svc_files'],
  },
  chat: {
    actions: [
      'teamChat.rooms',
      'teamChat.messages',
      'teamChat.send',
      'teamChat.edit',
      'teamChat.delete',
      'teamChat.poll',
      'teamChat.create_room',
      'teamChat.delete_room',
      'teamChat.react',
      'teamChat.typing',
      'teamChat.presence',
      'teamChat.online',
      'teamChat.read',
      'teamChat.search',
      'teamChat.users',
      'teamChat.invite',
      'teamChat.rename_room',
      'teamChat.leave',
      'teamChat.remove_participant',
      'filesystem.list',
      'filesystem.upload',
      'filesystem.download',
      'filesystem.thumbnail',
    ],
    tables: ['svc_rooms', 'svc_messages'],
  },
  assistant: {
    actions: [
      'assistant.ask',
      'assistant.models',
      'assistant.conversations',
      'assistant.messages',
      'assistant.delete_conversation',
      'assistant.confirm',
      'assistant.changes',
      'assistant.undo',
    ],
    desktop: ['set-preferences', 'refresh-apps', 'reload-app'],
  },
  admin: {
    actions: [
      'admin.users',
      'admin.user',
      'admin.create_user',
      'admin.update_user',
      'admin.set_role',
      'admin.set_password',
      'admin.disable_user',
      'admin.enable_user',
      'admin.unlock_user',
      'admin.reset_2fa',
      'admin.bypass_2fa',
      'admin.sign_out',
      'admin.removal',
      'admin.remove_user',
      'admin.usage',
      'admin.set_default_quota',
      'admin.maintenance',
      'admin.begin_maintenance',
      'admin.end_maintenance',
      'admin.backups',
      'admin.backup_job',
      'admin.start_backup_job',
      'admin.stop_backup_job',
      'admin.set_backup_schedule',
      'admin.resume_backup_schedule',
      'admin.set_backup_retention',
      'admin.doctor',
      'admin.audit',
      'admin.apps',
      'admin.enable_app',
      'admin.disable_app',
    ],
  },
  notes: { actions: rows, tables: ['svc_notes'] },
  tasks: { actions: rows, tables: ['svc_tasks'] },
  contacts: { actions: rows, tables: ['svc_contacts'] },
  bookmarks: { actions: rows, tables: ['svc_bookmarks'] },
  docs: { actions: rows, tables: ['svc_docs'] },
  calendar: { actions: rows, tables: ['svc_events', 'svc_calendars'] },
  finance: { actions: rows, tables: ['svc_finance'] },
  places: { actions: rows, tables: ['svc_places'] },
  apps: {
    actions: [
      'apps.list',
      'apps.create_custom',
      'apps.update',
      'apps.delete',
      'admin.apps',
      'admin.enable_app',
      'admin.disable_app',
    ],
  },
  components: {
    actions: [
      'desktopComponents.overview',
      'desktopComponents.get',
      'desktopComponents.save',
      'desktopComponents.history',
      'desktopComponents.activate',
      'desktopComponents.reset',
      'desktopComponents.reset_all',
      'desktopComponents.save_profile',
      'desktopComponents.load_profile',
      'desktopComponents.profiles',
      'desktopComponents.rename_profile',
      'desktopComponents.delete_profile',
    ],
    components: true,
  },
}
