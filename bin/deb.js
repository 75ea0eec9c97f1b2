// Packs what `node bin/build.js` made into a Debian package: `node bin/deb.js [FOLDER]` writes svc_VERSION_ARCH.deb there and prints
// its path. The package has the program in /usr/lib/svc, the command svc, a systemd unit, its user, /etc/svc and /var/lib/svc.
// SQLite is the one that is installed for this Node.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version, files, description, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const [major] = process.versions.node.split('.').map(Number)
const hasNapi = Number(process.versions.napi) >= 10
const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim()
const stage = mkdtempSync(join(tmpdir(), 'svc-deb-'))

/** Packages with compiled parts, and what they need. */
const modules = [
  ...Object.keys(dependencies),
  `@node-rs/argon2-linux-${process.arch}-gnu`,
  // For thumbnails, which are optional.
  ...['sharp', '@img', 'detect-libc', 'semver'].filter((name) => existsSync(join(root, 'node_modules', name))),
  ...(hasNapi ? ['better-sqlite3-napi'] : ['better-sqlite3', 'bindings', 'file-uri-to-path']),
]
const SOURCES = /\/(deps|src|obj|obj\.target|test_extension\.node|.*\.(a|mk|gyp|gypi)|Makefile)$/

/** Writes a file of the package, with the folders above it. */
function put(path, text, mode = 0o644) {
  mkdirSync(dirname(join(stage, path)), { recursive: true })
  writeFileSync(join(stage, path), text)
  chmodSync(join(stage, path), mode)
}

const script = (name, text) => put(`DEBIAN/${name}`, `#!/bin/sh\nset -e\n${text}`, 0o755)

try {
  chmodSync(stage, 0o755)
  for (const name of [...files, 'package.json', 'LICENSE'])
    cpSync(join(root, name), join(stage, 'usr/lib/svc', name), { recursive: true })
  for (const name of modules) {
    const from = join(root, 'node_modules', name)
    if (!existsSync(from)) throw new Error(`${name} is not installed: run npm install.`)
    const filter = (path) => !SOURCES.test(path)
    cpSync(from, join(stage, 'usr/lib/svc/node_modules', name), { recursive: true, dereference: true, filter })
  }
  mkdirSync(join(stage, 'usr/bin'))
  symlinkSync('../lib/svc/bin/svc.js', join(stage, 'usr/bin/svc'))

  const values = { command: '/usr/bin/svc', data_dir: '/var/lib/svc', user: 'svc', port: '8420', protect_home: 'yes' }
  const unit = readFileSync(join(root, 'templates/systemd/svc.service'), 'utf8')
    .replace(/\{\{(\w+)\}\}/g, (_, name) => values[name])
    .replace(/^# .* Install as .*\n/, '# svc as a service of this machine.\n')
    .replace(/^ExecStart=/m, 'EnvironmentFile=-/etc/svc/svc.env\n$&')
    .replace(/ --port \d+$/m, '')
  put('usr/lib/systemd/system/svc.service', unit)
  put('usr/lib/sysusers.d/svc.conf', 'u svc - "svc, a cloud desktop" /var/lib/svc\n')
  put('usr/lib/tmpfiles.d/svc.conf', 'd /var/lib/svc 0700 svc svc\n')
  // It may contain passwords. systemd reads it as root.
  put('etc/svc/svc.env', readFileSync(join(root, 'bin/deb/svc.env'), 'utf8'), 0o600)

  const node = hasNapi ? 'nodejs (>= 22.14)' : `nodejs (>= ${major}), nodejs (<< ${major + 1})`
  put(
    'DEBIAN/control',
    `Package: svc\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: the svc authors\nSection: web\nPriority: optional\n` +
      `Depends: ${node}, systemd | systemd-standalone-sysusers, systemd | systemd-standalone-tmpfiles\nDescription: ${description}\n`,
  )
  put('DEBIAN/conffiles', '/etc/svc/svc.env\n')
  for (const name of ['postinst', 'prerm', 'postrm']) script(name, readFileSync(join(root, 'bin/deb', name), 'utf8'))

  const target = join(resolve(process.argv[2] ?? root), `svc_${version}_${architecture}.deb`)
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', stage, target], { stdio: 'pipe' })
  process.stdout.write(`${target}\n`)
} finally {
  rmSync(stage, { recursive: true, force: true })
}
