import { AppIcon } from './app-icon.tsx'
import { appName } from './app-name.ts'
import type { App } from './apps.ts'

/** An app with its name, in a grid of apps. */
export function LauncherApp({ app: { slug, description }, onOpen }: { app: App; onOpen: () => void }) {
  return (
    <button type="button" class="launcher-app" title={description} onClick={onOpen}>
      <AppIcon slug={slug} size={60} />
      <span>{appName(slug)}</span>
    </button>
  )
}
