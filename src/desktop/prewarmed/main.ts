import '../kit/webrtc-removal.ts'
import { bridge, connect } from '../kit/bridge.ts'
import '../kit/app-root.tsx'

// The page of a window that is loaded before it is known which app it will show.

const pages = import.meta.glob('../apps/*/main.tsx')

const slug = await connect()
document.title = slug
try {
  await pages[`../apps/${slug}/main.tsx`]!()
} catch {
  // The server has been given a newer build since, or cannot be reached.
  bridge.reportStart(false)
}
