// Bundles the sources: `node bin/build.js` writes dist, with `--if-changed` only where it is older than a source, with `--desktop`
// only dist/desktop, and with `--bench` the benchmarks and the attack into node_modules/.cache.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNewest } from './is-newest.js'

/** What becomes a file of its own in dist, by name: the command, and any worker thread that is started by path. */
const ENTRIES = {
  svc: 'src/cli/main.ts',
}

/** What short commands of the client consist of. */
const TOGETHER = [
  'src/cli/command-runner.ts',
  'src/cli/retry-options.ts',
  'src/cli/time-format.ts',
  'src/client/files/remote-files.ts',
  'src/contract/sync-auth.ts',
  'src/contract/sync-status.ts',
]

/** Loaded on demand where no command runs. */
const FOR_HELP = ['src/cli/help.ts', 'src/cli/topic.ts']

/** The file that a build writes last. */
const LAST = 'THIRD-PARTY.txt'

/** What a build depends on. npm writes the last one whenever it changes packages. */
const SOURCES = ['src', 'bin', 'package.json', 'package-lock.json', 'node_modules/.package-lock.json']

/** Packages with compiled parts; they stay in node_modules and are real dependencies. */
const EXTERNAL = ['better-sqlite3', 'better-sqlite3-napi', '@node-rs/argon2']

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const manifest = readManifest(root)

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  splitting: true,
  // Functions that are handed to a thread as text have to stay as they were written.
  minify: false,
  keepNames: false,
  define: { __SVC_VERSION__: JSON.stringify(manifest.version) },
  loader: { '.md': 'text' },
  logLevel: 'warning',
}

// CommonJS packages inside an ES module still ask for these. Few commands do, so `require` is made when it is used.
const needs = [
  {
    word: /\brequire\b/,
    lines: [
      "import { createRequire as __createRequire } from 'node:module'",
      'let __made',
      'const __real = () => (__made ??= __createRequire(import.meta.url))',
      'const require = new Proxy(() => undefined, { apply: (_, at, args) => __real().apply(at, args), get: (_, name) => __real()[name] })',
    ],
  },
  {
    word: /\b__(?:file|dir)name\b/,
    lines: [
      "import { fileURLToPath as __fileURLToPath } from 'node:url'",
      'const __filename = __fileURLToPath(import.meta.url)',
      "const __dirname = __fileURLToPath(new URL('.', import.meta.url))",
    ],
  },
]

const esbuild = await findEsbuild()
if (process.argv.includes('--bench')) await buildBench()
else if (esbuild && process.argv.includes('--desktop')) await (await desktop())(esbuild, root, join(dist, 'desktop'))
else if (esbuild && !(process.argv.includes('--if-changed') && isNewest(join(dist, LAST), root, SOURCES)))
  await buildDist()

/** esbuild, or undefined in an installed package: there dist is complete, and sources or development packages are not there. */
async function findEsbuild() {
  const built = existsSync(join(dist, 'svc.js'))
  if (built && !existsSync(join(root, ENTRIES.svc))) return undefined
  try {
    return await import('esbuild')
  } catch (error) {
    if (built && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

async function buildDist() {
  const { outputFiles, metafile } = await esbuild.build({
    ...shared,
    entryPoints: ENTRIES,
    outdir: 'dist',
    external: EXTERNAL,
    plugins: [together(TOGETHER)],
    metafile: true,
    write: false,
  })
  const made = join(root, 'node_modules/.cache/desktop')
  const desktopPackages = await (await desktop())(esbuild, root, made)
  // A build that fails leaves the old dist as it is; one that succeeds leaves nothing of it.
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist)
  for (const { path, text } of outputFiles) writeFileSync(path, withNeeds(text))
  cpSync(made, join(dist, 'desktop'), { recursive: true })
  writeFileSync(join(dist, LAST), thirdParty(metafile, desktopPackages))
}

/**
 * Keeps these modules, and what they import, in one file. esbuild makes a file of all modules that the same entry points import, and
 * what is loaded on demand is an entry point too: hundreds of them would share the modules of every command in dozens of tiny files,
 * and each file that Node opens costs most of a millisecond. So everything loaded on demand also imports these.
 */
function together(modules) {
  const paths = modules.map((module) => join(root, module))
  return {
    name: 'together',
    setup(build) {
      const onDemand = modulesOnDemand()
      for (const name of FOR_HELP) onDemand.delete(join(root, name))
      build.onLoad({ filter: /\.ts$/ }, ({ path: source }) => {
        if (!onDemand.has(source)) return undefined
        const imports = paths.filter((path) => path !== source).map((path) => `import ${JSON.stringify(path)}`)
        return { contents: [readFileSync(source, 'utf8'), ...imports].join('\n'), loader: 'ts' }
      })
    },
  }
}

function modulesOnDemand() {
  const sources = readdirSync(join(root, 'src'), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(root, 'src', name))
  const importsOf = (source) => [...readFileSync(source, 'utf8').matchAll(/\bimport\('(\.[^']+\.ts)'\)/g)]
  return new Set(sources.flatMap((source) => importsOf(source).map(([, name]) => resolve(dirname(source), name))))
}

function withNeeds(text) {
  return [...needs.filter(({ word }) => word.test(text)).flatMap(({ lines }) => lines), text].join('\n')
}

/** Loaded when it is needed: an installed package has neither the sources of the desktop nor what bundles them. */
async function desktop() {
  return (await import('./desktop.js')).buildDesktop
}

async function buildBench() {
  await esbuild.build({
    ...shared,
    entryPoints: ['bench/main.ts', 'bench/screenshots.ts', 'bench/attack/main.ts'],
    outdir: 'node_modules/.cache/bench',
    packages: 'external',
  })
}

/** Name, version and licence of every package with at least one byte in dist. */
function thirdParty(metafile, more) {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
  )
  const folders = inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? [])
  const sections = [...new Set([...folders, ...more])]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((folder) => {
      const { name, version, license, author } = readManifest(join(root, folder))
      const texts = readdirSync(join(root, folder))
        .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
        .map((file) => readFileSync(join(root, folder, file), 'utf8').trim())
      if (texts.length === 0) texts.push(`Copyright (c) ${author?.name ?? author ?? `the authors of ${name}`}`)
      return [`${name} ${version}`, `Licence: ${license}`, ...texts].join('\n\n')
    })
  return ['svc contains parts of the packages below.', ...sections].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n'
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
