import '../kit/webrtc-removal.ts'
import { bridge, connect } from '../kit/bridge.ts'
import '../kit/app-root.tsx'

// The page of a prewarmed window, loaded before its app is known.

const pages = import.meta.glob('../apps/*/main.tsx')

const slug = await connect()
document.title = slug
try {
  await pages[`../apps/${slug}/main.tsx`]!()
} catch {
  // The server has a newer build, or cannot be reached.
  bridge.reportStart(false)
}
