import { nameOfApp } from '../kit/app-names.ts'
import { appBySlug, isBuiltIn } from './apps.ts'
import { words } from './words.ts'

/** What an app is called, in the language of the desktop where it comes with it. */
export function appName(slug: string): string {
  const app = appBySlug(slug)
  return app ? nameOfApp(app) : slug
}

/** Names who says something, so that an app that is called like a part of the desktop is not taken for it. */
export function sourceName(slug: string): string {
  const app = appBySlug(slug)
  return app && isBuiltIn(app) ? appName(slug) : words('from_app', appName(slug))
}
