import type { AssistantAction } from '../../../contract/assistant.ts'
import { bridge } from '../../kit/bridge.ts'

const OWN = 'assistant'

/** Performs an action of the assistant on the desktop. Confirmations are handled elsewhere. */
export function performAction(action: AssistantAction): void {
  switch (action.type) {
    case 'open_app':
      bridge.open(action.data.slug, action.data.path)
      break
    case 'set_wallpaper':
      bridge.setPreferences({ wallpaper: action.data.wallpaper })
      break
    case 'refresh_apps':
      bridge.refreshApps()
      break
    case 'reload_app':
      // Reloading this app would end the answer.
      if (action.data.slug !== OWN) bridge.reloadApp(action.data.slug)
      break
    default:
      break
  }
}
