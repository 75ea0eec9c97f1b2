import { nameOfApp } from '../kit/app-names.ts'
import { appBySlug, isBuiltIn } from './apps.ts'
import { words } from './words.ts'

/** Display name of an app; those of built-in apps are translated. */
export function appName(slug: string): string {
  const app = appBySlug(slug)
  return app ? nameOfApp(app) : slug
}

/** The sender of a message: marks foreign apps, so that they cannot imitate a part of the desktop. */
export function sourceName(slug: string): string {
  const app = appBySlug(slug)
  return app && isBuiltIn(app) ? appName(slug) : words('from_app', appName(slug))
}
