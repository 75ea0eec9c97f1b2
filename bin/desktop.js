// Bundles the desktop: one page for the shell and one for each app, with parts they share, into a folder that can be served.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b5bdb"/><path d="M8 21a5 5 0 0 1 1-9.9A7 7 0 0 1 22.4 13 4.2 4.2 0 0 1 22 21z" fill="#fff"/></svg>',
  )

/** What browsers need to install the desktop as an app. */
const INSTALLATION = [
  '<meta name="theme-color" content="#3b5bdb">',
  '<link rel="manifest" href="/manifest.webmanifest">',
  '<link rel="apple-touch-icon" href="/icon-apple.png">',
]

/** Smaller files gain nothing from being compressed. */
const WORTH_COMPRESSING = 1_024

/** Builds `src/desktop` below `root` into `folder`; answers the folders of the packages whose code is in it. */
export async function buildDesktop(esbuild, root, folder) {
  const { build } = await import('vite')
  const source = join(root, 'src/desktop')
  const apps = readdirSync(join(source, 'apps')).filter((slug) => existsSync(join(source, 'apps', slug, 'main.tsx')))
  const entries = {
    shell: 'shell/main.tsx',
    prewarmed: 'prewarmed/main.ts',
    ...Object.fromEntries(apps.map((slug) => [slug, `apps/${slug}/main.tsx`])),
  }
  const actions = await readActions(esbuild, root)
  const packages = new Set()
  await build({
    configFile: false,
    root: source,
    logLevel: 'warn',
    define: { __APPS__: JSON.stringify(apps) },
    plugins: [wireActions(actions), listPackages(packages)],
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      manifest: 'manifest.json',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 2_000,
      reportCompressedSize: false,
      // A note about the speed of plugins is not for whoever installs svc.
      rolldownOptions: {
        checks: { pluginTimings: false },
        input: Object.fromEntries(Object.entries(entries).map(([n, p]) => [n, join(source, p)])),
      },
    },
  })
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const writePage = (path, title, parts, head = []) => {
    mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, path, 'index.html'), pageOf(title, parts, head))
  }
  const needed = (entry) => partsOf(manifest, entries[entry])
  writePage('', 'svc', needed('shell'), INSTALLATION)
  for (const slug of apps) writePage(`apps/${slug}`, slug, needed(slug))
  writePage('apps/_', 'svc', withShared(needed('prewarmed'), apps.map(needed)))
  rmSync(join(folder, 'manifest.json'))
  cpSync(join(source, 'installation'), join(folder, 'root'), { recursive: true })
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['src/desktop/service-worker/service-worker.ts', 'src/desktop/kit/recurrence/recurrence-worker.ts'],
    entryNames: '[name]',
    outdir: join(folder, 'root'),
    bundle: true,
    minify: true,
  })
  for (const file of filesBelow(folder)) compress(file)
  return packages
}

/** What the wire needs to know of every action: the declarations of the contract without their schemas, which only servers check. */
async function readActions(esbuild, root) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['src/contract/contract.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  })
  const code = Buffer.from(outputFiles[0].contents).toString('base64')
  const { contract } = await import(`data:text/javascript;base64,${code}`)
  const slim = ({ name, path, method, sends, answers, streams }) => ({ name, path, method, sends, answers, streams })
  return Object.fromEntries(
    Object.entries(contract).flatMap(([endpoint, { actions }]) =>
      Object.entries(actions).map(([key, action]) => [`${endpoint}.${key}`, slim(action)]),
    ),
  )
}

const wireActions = (actions) => ({
  name: 'wire-actions',
  resolveId: (id) => (id === 'virtual:wire-actions' ? `\0${id}` : undefined),
  load: (id) => (id === '\0virtual:wire-actions' ? `export const wireActions = ${JSON.stringify(actions)}` : undefined),
})

const listPackages = (packages) => ({
  name: 'list-packages',
  generateBundle(_options, bundle) {
    for (const { modules = {} } of Object.values(bundle)) {
      for (const [id, { renderedLength }] of Object.entries(modules)) {
        const folder = id.match(/node_modules\/(?:@[^/]+\/)?[^/]+/g)?.at(-1)
        if (folder && renderedLength > 0) packages.add(folder)
      }
    }
  },
})

/** What an entry loads: its own script, those that it imports, and the styles of all. */
function partsOf(manifest, entry) {
  const { file } = manifest[entry]
  const styles = new Set()
  const scripts = new Set()
  const visit = (key) => {
    const { css = [], imports = [], file: script } = manifest[key]
    if (scripts.has(script)) return
    scripts.add(script)
    imports.forEach(visit)
    css.forEach((style) => styles.add(style))
  }
  visit(entry)
  scripts.delete(file)
  return { file, styles, scripts }
}

/** The same with what at least a third of the apps import besides: whichever is opened next, most of it is there. */
function withShared({ file, styles, scripts }, apps) {
  const isShared = (script) => apps.filter((app) => app.scripts.has(script)).length * 3 >= apps.length
  const shared = apps.flatMap((app) => [...app.scripts]).filter(isShared)
  return { file, styles, scripts: new Set([...scripts, ...shared]) }
}

/** A page that loads all of it: what that is is known, so the browser may fetch everything at once. */
function pageOf(title, { file, styles, scripts }, head) {
  const lines = [
    ...head,
    ...[...styles].map((style) => `<link rel="stylesheet" crossorigin href="/${style}">`),
    `<script type="module" crossorigin src="/${file}"></script>`,
    ...[...scripts].map((script) => `<link rel="modulepreload" crossorigin href="/${script}">`),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
${lines.join('\n')}
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<div id="root"></div>
</body>
</html>
`
}

const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))

function compress(file) {
  const bytes = readFileSync(file)
  if (bytes.length < WORTH_COMPRESSING || !/\.(js|css|html|svg)$/.test(file)) return
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }))
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
}
