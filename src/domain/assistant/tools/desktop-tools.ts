import { Type } from 'typebox'
import { fault } from '../../../contract/errors.ts'
import { wallpapers } from '../../../contract/wallpapers.ts'
import { isSystemSlug, undoableComponents, type Desktop } from '../../desktop/desktop.ts'
import { mimeOf, segmentsOf } from '../../files/files.ts'
import type { Account, ToolEffect, Tool } from './tool.ts'
import type { FileBrowser } from './read-files.ts'
import { FilePath } from './argument-shapes.ts'
import { typedTool } from './typed-tool.ts'

type Deps = { apps: Pick<Desktop['apps'], 'list'> } & FileBrowser

const Slug = Type.String({ minLength: 1, maxLength: 63, description: 'Short name of the app, such as "files".' })

/** Installed apps may send to their authors that they were opened and with which path. */
const effectOfApp = (slug: string, own: ToolEffect): ToolEffect => (isSystemSlug(slug) ? own : 'sends')

export function desktopTools({ apps, desktop }: Deps): Tool[] {
  /** An app the user may open. Fault `not_found` lists the slugs. */
  async function visible(account: Account, slug: string) {
    const all = await apps.list(account)
    const app = all.find((each) => each.slug === slug)
    if (app) return app
    throw fault('not_found', { text: `There is no app "${slug}". Apps: ${all.map((each) => each.slug).join(', ')}` })
  }
  return [
    typedTool({
      name: 'open_app',
      description: 'Opens an app on the desktop in front of the user, with a file or folder where the app takes one.',
      parameters: Type.Object({ slug: Slug, path: Type.Optional(FilePath) }),
      effect: ({ slug }) => effectOfApp(slug, 'reads'),
      untrusted: false,
      async run({ account }, { slug, path }) {
        await visible(account, slug)
        if (path !== undefined) segmentsOf(path)
        return {
          text: `${slug} opens on the desktop.`,
          action: { type: 'open_app', data: { slug, ...(path !== undefined && { path }) } },
        }
      },
    }),
    typedTool({
      name: 'set_wallpaper',
      description: `Changes the wallpaper of the desktop: ${wallpapers.join(', ')}, or the path of one of the user's images.`,
      parameters: Type.Object({ wallpaper: Type.String({ minLength: 1, maxLength: 4_096 }) }),
      effect: 'alters',
      untrusted: false,
      async run({ account }, { wallpaper }) {
        if (!(wallpapers as readonly string[]).includes(wallpaper)) {
          if (!wallpaper.startsWith('/'))
            throw fault('bad_request', {
              text: `The wallpapers are ${wallpapers.join(', ')}, or the path of an image.`,
            })
          await desktop.facts(account.id, wallpaper)
          if (!/^image\/(png|jpeg|gif|webp)$/.test(mimeOf(wallpaper)))
            throw fault('unsupported_media_type', { text: 'A wallpaper is a PNG, JPEG, GIF or WebP image.' })
        }
        return { text: 'The wallpaper changes.', action: { type: 'set_wallpaper', data: { wallpaper } } }
      },
    }),
    typedTool({
      name: 'refresh_apps',
      description: 'Rebuilds the dock of the desktop, after apps or components changed.',
      parameters: Type.Object({}),
      effect: 'reads',
      untrusted: false,
      run: () => Promise.resolve({ text: 'The dock is rebuilt.', action: { type: 'refresh_apps', data: {} } }),
    }),
    typedTool({
      name: 'reload_app',
      description: 'Reloads an open app of the desktop.',
      parameters: Type.Object({ slug: Slug }),
      // Unsaved input of the app is lost.
      effect: ({ slug }) => effectOfApp(slug, 'alters'),
      untrusted: false,
      async run({ account }, { slug }) {
        await visible(account, slug)
        return { text: `${slug} was reloaded.`, action: { type: 'reload_app', data: { slug } } }
      },
    }),
    saveComponent,
  ]
}

/** No scripts: code written by a model must not run on a desktop. */
const saveComponent: Tool = typedTool({
  name: 'save_component',
  description:
    'Saves a style ("css") or a widget ("widget", HTML in a frame of its own) for the desktop as a new version and turns it on. Earlier versions stay. Scripts ("js") cannot be saved here.',
  parameters: Type.Object({
    component_id: Type.String({ minLength: 1, maxLength: 100 }),
    component_type: Type.Union([Type.Literal('css'), Type.Literal('widget')]),
    code: Type.String({ maxLength: 102_400 }),
  }),
  // Once the conversation contains untrusted text, the user confirms the code first.
  effect: 'alters',
  untrusted: false,
  async run({ account, changeSet }, component) {
    const [change] = await changeSet.change(async (tx, now) => [
      await undoableComponents.save(tx, account.id, component, now),
    ])
    return { text: `Saved ${component.component_id}, version ${change?.kind === 'component' ? change.after : ''}.` }
  },
})
