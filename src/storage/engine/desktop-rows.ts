import type { ColumnType } from 'kysely'

// Stored rows of the desktop. Times are epoch ms, booleans 0 or 1.

type Key = ColumnType<number, number | undefined, never>

export interface ComponentRow {
  id: Key
  user_id: number
  component_id: string
  component_type: 'css' | 'js' | 'widget'
  code: string
  version: number
  is_active: number
  /** JSON object. */
  metadata: string
  updated_at: number
}

export interface ComponentProfileRow {
  id: Key
  user_id: number
  name: string
  is_default: number
  created_at: number
}

export interface ProfileComponentRow {
  profile_id: number
  component_id: string
  component_type: ComponentRow['component_type']
  code: string
  /** JSON object. */
  metadata: string
}

export interface AppRow {
  id: Key
  slug: string
  name: string
  description: string
  icon_url: string
  app_path: string
  category: string
  supports_context: number
  is_system: number
  /** Shown to administrators only. */
  admin_only: number
  /** Owner of a custom app; null for apps of the system. */
  created_by: number | null
  created_at: number
  updated_at: number
}

export interface AppReleaseRow {
  id: Key
  app_id: number
  version: string
  /** Over all files of the package. */
  sha256: string
  /** JSON object. */
  manifest: string
  is_current: number
  installed_at: number
}

export interface AppFileRow {
  release_id: number
  /** Relative, for example `img/logo.svg`. */
  path: string
  sha256: string
  size: number
}
