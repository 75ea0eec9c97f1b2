import type { ActionName } from './actions.ts'

// What frames and the desktop say to each other. Windows hear the small protocol of docs/desktop-apps.md; apps of the package get a port
// of their own besides, over which everything else goes.

export type Theme = 'light' | 'dark'
export type Language = 'de' | 'en'

/** Who is signed in. */
export interface Person {
  id: number
  username: string
  display_name: string
  role: 'admin' | 'user'
}

/** How the desktop looks at the moment, for apps to look the same. */
export interface Surroundings {
  theme: Theme
  language: Language
  /** False while the server cannot be reached. */
  online: boolean
}

export interface Welcome extends Surroundings {
  type: 'svc-welcome'
  slug: string
  /** What the app is to show, as in `svc-open-app`. */
  path: string
  /** For apps of the package only. */
  user?: Person
  preferences?: Preferences
}

/** `kit/wallpapers.css` draws them. */
export { wallpapers } from '../../contract/wallpapers.ts'

/** What somebody chose for this browser. */
export interface Preferences {
  theme: Theme | 'system'
  language: Language | 'system'
  /** One of `wallpapers`, or the path of a picture among the user's files. */
  wallpaper: string
}

/** A change of the feed, as the contract answers it. */
export interface Change {
  table: string
  operation: 'INSERT' | 'UPDATE' | 'DELETE'
  data: { id: number; [column: string]: unknown }
  cursor: number
}

/** A fault on its way through a port. */
export interface SerializedError {
  /** A code of the contract, or `unreachable`. */
  code: string
  message: string
  fields?: Record<string, unknown>
  /** Seconds. */
  retryAfter?: number
}

/** A component that is tried out before it is saved. */
export interface PreviewedComponent {
  component_id: string
  component_type: 'css' | 'js' | 'widget'
  code: string
  metadata: Record<string, unknown>
}

/** What becomes of a component that is tried out: it runs, a hook of it answered (as JSON), or it was stopped. */
export type PreviewEvent = { kind: 'running' } | { kind: 'answered'; hook: 'dock' | 'panel'; json: string } | Failure

/** A version that was switched off until the desktop is loaded anew. */
export interface StoppedComponent {
  component_id: string
  version: number
  failure: Failure
}

/** How components fare on the desktop. */
export interface ComponentsState {
  /** Whether the desktop started without any. */
  safe: boolean
  active: { component_id: string; version: number }[]
  stopped: StoppedComponent[]
}

/** Why a component was stopped: an error of its own, too many messages, no answer, a wrong one, or another page in its frame. */
export type Failure =
  { kind: 'error'; message: string } | { kind: 'too_many_messages' | 'timeout' | 'invalid_result' | 'navigated' }

/** From an app of the package to the desktop. */
export type AppMessage =
  | { type: 'call'; id: number; action: ActionName; params: object; body?: Blob; name?: string }
  | { type: 'cancel'; id: number }
  | { type: 'download'; action: ActionName; params: object }
  | { type: 'watch'; tables: string[] }
  | { type: 'set-item'; key: string; value: string | null }
  | { type: 'get-item'; id: number; key: string }
  | { type: 'unsaved'; unsaved: boolean }
  | { type: 'location'; path: string }
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

/** From the desktop to an app of the package. */
export type DesktopMessage =
  | { type: 'answer'; id: number; result: unknown }
  | { type: 'failed'; id: number; error: SerializedError }
  | { type: 'progress'; id: number; sent: number; total: number }
  /** What a stream tells before its answer. */
  | { type: 'event'; id: number; event: string; data: unknown }
  | { type: 'changes'; changes: Change[]; reset: boolean }
  | { type: 'preview-event'; id: number; event: PreviewEvent }
  | ({ type: 'components' } & ComponentsState)
  | ({ type: 'surroundings' } & Surroundings)
  | { type: 'preferences'; preferences: Preferences }
