import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import { categories } from '../../contract/app-categories.ts'
import type { RegisteredApp, Release } from '../../domain/desktop/desktop.ts'
import { flag } from '../command.ts'

/** An app as `--json` prints it. */
export const documentOf = ({ disabled, created_at, updated_at, ...app }: RegisteredApp) => ({
  ...app,
  state: disabled ? 'disabled' : 'enabled',
  created_at: iso(created_at),
  updated_at: iso(updated_at),
})

/** A release as `--json` prints it. */
export const releaseDocumentOf = ({ installed_at, ...release }: Release) => ({
  ...release,
  installed_at: iso(installed_at),
})

export const sourceText = ({ source, owner }: RegisteredApp): string =>
  source === 'custom' ? `custom (${owner})` : source

export const labelOf = ({ name, slug }: RegisteredApp): string => `${printable(name)} (${slug})`

export const detailFlags = {
  path: flag.text('where it loads from: /apps/… or an allowed https address', 'ADDRESS'),
  description: flag.text('what it is for', 'TEXT'),
  category: flag.choice(`kind of app: ${categories.join(', ')}`, 'CATEGORY', categories),
  icon: flag.text('address of its icon: a path, an https or a data: address', 'ADDRESS'),
  supportsContext: flag.choice('whether its content can be passed to the assistant', 'on|off', ['on', 'off']),
  adminOnly: flag.choice('whether only administrators see it', 'on|off', ['on', 'off']),
}

type DetailFlags = {
  [name in keyof typeof detailFlags]: (typeof detailFlags)[name] extends { parse?: (text: string) => infer T }
    ? T | undefined
    : never
}

export const detailsOf = ({ path, description, category, icon, supportsContext, adminOnly }: DetailFlags) => ({
  ...(path !== undefined && { app_path: path }),
  ...(description !== undefined && { description }),
  ...(category !== undefined && { category }),
  ...(icon !== undefined && { icon_url: icon }),
  ...(supportsContext !== undefined && { supports_context: supportsContext === 'on' }),
  ...(adminOnly !== undefined && { admin_only: adminOnly === 'on' }),
})
