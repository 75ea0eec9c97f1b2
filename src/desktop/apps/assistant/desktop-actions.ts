import type { AssistantAction } from '../../../contract/assistant.ts'
import { bridge } from '../../kit/bridge.ts'

const OWN = 'assistant'

/** Does on the desktop what the assistant wants done there. What needs the user's word is asked elsewhere. */
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
      // Loading this app anew would end the answer in which it is asked for.
      if (action.data.slug !== OWN) bridge.reloadApp(action.data.slug)
      break
    default:
      break
  }
}
