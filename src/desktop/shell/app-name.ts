import { appBySlug, isOfPackage, ownApps } from './apps.ts'
import { words } from './words.ts'

/** What an app is called: those of the package in the language of the desktop, others as they call themselves. */
export function appName(slug: string): string {
  const app = appBySlug(slug)
  const known = ownApps.find((name) => name === slug)
  return app && known && isOfPackage(app) ? words(known) : (app?.name ?? slug)
}
