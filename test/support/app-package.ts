import { validatePackage, type AppPackage } from '../../src/domain/desktop/desktop.ts'

/** The files of an app package by path. `manifest` overrides fields; undefined omits one. */
export function filesOfApp(
  files: Record<string, string | Uint8Array> = {},
  manifest: Record<string, unknown> = {},
): Map<string, Uint8Array> {
  const described = { slug: 'clock', name: 'Clock', version: '1.0.0', ...manifest }
  const all = { 'app.json': JSON.stringify(described), 'index.html': '<h1>Clock</h1>', ...files }
  return new Map(Object.entries(all).map(([path, content]) => [path, Buffer.from(content as string)]))
}

/** A valid package. */
export function appPackage(
  files: Record<string, string | Uint8Array> = {},
  manifest: Record<string, unknown> = {},
): AppPackage {
  const { app, problems } = validatePackage(filesOfApp(files, manifest))
  if (!app) throw new Error(JSON.stringify(problems))
  return app
}
