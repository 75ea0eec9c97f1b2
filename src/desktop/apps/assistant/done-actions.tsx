import { AppWindow, Image, RotateCw } from 'lucide'
import type { AssistantAction } from '../../../contract/assistant.ts'
import { nameOfSlug } from '../../kit/app-names.ts'
import { bridge } from '../../kit/bridge.ts'
import { Icon } from '../../kit/icon.tsx'
import type { Turn } from './turns.ts'
import { words } from './words.ts'

/** The wallpaper set by the assistant, with undo. */
function Wallpaper({ name, before }: { name: string; before: string | undefined }) {
  const isBack = before !== undefined && before !== name && bridge.preferences.value.wallpaper === name
  return (
    <span class="chip">
      <Icon of={Image} size={15} /> {words('wallpaper_is', name)}
      {isBack && (
        <button type="button" class="link" onClick={() => bridge.setPreferences({ wallpaper: before })}>
          {words('undo')}
        </button>
      )}
    </span>
  )
}

function Done({ action, wallpaper }: { action: AssistantAction; wallpaper: string | undefined }) {
  switch (action.type) {
    case 'open_app': {
      const { slug, path } = action.data
      return (
        <button type="button" class="chip" title={words('open_again')} onClick={() => bridge.open(slug, path)}>
          <Icon of={AppWindow} size={15} />{' '}
          {words('opened', path === undefined ? nameOfSlug(slug) : `${nameOfSlug(slug)}: ${path}`)}
        </button>
      )
    }
    case 'set_wallpaper':
      return <Wallpaper name={action.data.wallpaper} before={wallpaper} />
    case 'refresh_apps':
    case 'reload_app':
      return (
        <span class="chip">
          <Icon of={RotateCw} size={15} />{' '}
          {action.type === 'refresh_apps'
            ? words('apps_refreshed')
            : words('app_reloaded', nameOfSlug(action.data.slug))}
        </span>
      )
    default:
      return null
  }
}

/** Actions of an answer on the desktop. */
export const DoneActions = ({ turn: { actions, wallpaper } }: { turn: Turn }) => {
  const done = actions.filter(({ type }) => type !== 'confirm')
  return done.length === 0 ? null : (
    <div class="chips">
      {done.map((action, index) => (
        <Done key={index} action={action} wallpaper={wallpaper} />
      ))}
    </div>
  )
}
