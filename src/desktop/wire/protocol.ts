import type { ActionName } from './actions.ts'

// Messages between frames and the desktop. All apps speak the protocol of docs/desktop-apps.md; built-in apps also get
// a `MessagePort` for everything else.

export type Theme = 'light' | 'dark'
export type Language = 'de' | 'en'

/** The signed-in user. */
export interface Person {
  id: number
  username: string
  display_name: string
  role: 'admin' | 'user'
}

/** Appearance and connection state, which apps adopt. */
export interface DesktopState {
  theme: Theme
  language: Language
  /** False while the server cannot be reached. */
  online: boolean
}

export interface WelcomeMessage extends DesktopState {
  type: 'svc-welcome'
  slug: string
  /** The path to show, as in `svc-open-app`. */
  path: string
  /** For built-in apps only. */
  user?: Person
  preferences?: Preferences
}

/** Drawn by `kit/wallpapers.css`. */
export { wallpapers } from '../../contract/wallpapers.ts'

/** Preferences of this browser. */
export interface Preferences {
  theme: Theme | 'system'
  language: Language | 'system'
  /** One of `wallpapers`, or the path of an image in the user's files. */
  wallpaper: string
}

/** A change of the feed. */
export interface Change {
  table: string
  operation: 'INSERT' | 'UPDATE' | 'DELETE'
  data: { id: number; [column: string]: unknown }
  cursor: number
}

/** An error as sent through a port. */
export interface SerializedError {
  /** A code of the contract, or `unreachable`. */
  code: string
  message: string
  fields?: Record<string, unknown>
  /** Seconds. */
  retryAfter?: number
}

/** A component to run without saving it. */
export interface PreviewedComponent {
  component_id: string
  component_type: 'css' | 'js' | 'widget'
  code: string
  metadata: Record<string, unknown>
}

/** State of a preview: running, the result of a hook as JSON, or stopped. */
export type PreviewEvent = { kind: 'running' } | { kind: 'answered'; hook: 'dock' | 'panel'; json: string } | Failure

/** A stopped component; it restarts when the desktop is reloaded. */
export interface StoppedComponent {
  component_id: string
  version: number
  failure: Failure
}

export interface ComponentsState {
  /** Whether the desktop was started without components. */
  safe: boolean
  active: { component_id: string; version: number }[]
  stopped: StoppedComponent[]
}

/** Why a component was stopped: also for too many messages, no response, or a navigation of its frame. */
export type Failure =
  { kind: 'error'; message: string } | { kind: 'too_many_messages' | 'timeout' | 'invalid_result' | 'navigated' }

/** Messages of built-in apps to the desktop. */
export type AppMessage =
  | { type: 'call'; id: number; action: ActionName; params: object; body?: Blob; name?: string }
  | { type: 'cancel'; id: number }
  | { type: 'download'; action: ActionName; params: object }
  | { type: 'watch'; tables: string[] }
  | { type: 'set-item'; key: string; value: string | null }
  | { type: 'get-item'; id: number; key: string }
  | { type: 'keep-draft'; id: number; key: string; text: string | null }
  | { type: 'restore-drafts'; id: number; prefix: string }
  | { type: 'unsaved'; unsaved: boolean }
  | { type: 'location'; path: string }
  | { type: 'back-levels'; count: number }
  | { type: 'started'; ok: boolean }
  | { type: 'open-link'; url: string }
  | { type: 'set-preferences'; preferences: Partial<Preferences> }
  | { type: 'refresh-apps' }
  | { type: 'preview'; id: number; component: PreviewedComponent | null }
  | { type: 'restart-component'; component_id: string }
  | { type: 'reload-app'; slug: string }
  | { type: 'sign-out' }
  | { type: 'refresh-user' }
  | { type: 'key'; key: string }

/** Messages of the desktop to built-in apps. */
export type DesktopMessage =
  | { type: 'answer'; id: number; result: unknown }
  | { type: 'failed'; id: number; error: SerializedError }
  | { type: 'progress'; id: number; sent: number; total: number }
  /** An event of a streamed response. */
  | { type: 'event'; id: number; event: string; data: unknown }
  | { type: 'changes'; changes: Change[]; reset: boolean }
  | { type: 'preview-event'; id: number; event: PreviewEvent }
  | ({ type: 'components' } & ComponentsState)
  | ({ type: 'surroundings' } & DesktopState)
  | { type: 'preferences'; preferences: Preferences }
