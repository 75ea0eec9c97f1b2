import { nameOfApp } from '../kit/app-names.ts'
import { appBySlug } from './apps.ts'

/** What an app is called, in the language of the desktop where it comes with it. */
export function appName(slug: string): string {
  const app = appBySlug(slug)
  return app ? nameOfApp(app) : slug
}
