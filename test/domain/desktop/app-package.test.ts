import { describe, expect, test } from 'vitest'
import { validatePackage, packageLimits, type Remark } from '../../../src/domain/desktop/desktop.ts'
import { appPackage, filesOfApp } from '../../support/app-package.ts'
import { stepsOf } from '../../support/work.ts'

const lines = (remarks: readonly Remark[]) =>
  remarks.map(({ file, field, message }) => [file, ...(field ? [field] : []), message].join(': '))

const problemsOf = (files: Parameters<typeof filesOfApp>[0], manifest?: Parameters<typeof filesOfApp>[1]) => {
  const { app, problems } = validatePackage(filesOfApp(files, manifest))
  expect(app === undefined).toBe(problems.length > 0)
  return lines(problems)
}

describe('a package', () => {
  test('says what it is, with the defaults filled in', () => {
    const { manifest, files, bytes } = appPackage()
    expect(manifest).toEqual({
      slug: 'clock',
      name: 'Clock',
      version: '1.0.0',
      description: '',
      icon: '',
      category: 'utility',
      entry: 'index.html',
      supports_context: false,
      admin_only: false,
    })
    expect([files.map(({ path }) => path), bytes]).toEqual([['app.json', 'index.html'], 63])
  })

  test('has one hash whatever the order of its files, and another for every change', () => {
    const files = { 'a.txt': 'a', 'b/c.txt': 'c' }
    const { sha256 } = appPackage(files)
    const reversed = new Map([...filesOfApp(files)].reverse())
    expect(validatePackage(reversed).app?.sha256).toBe(sha256)
    const others = [
      appPackage({ ...files, 'a.txt': 'A' }),
      appPackage({ 'a.txt': 'c', 'b/c.txt': 'a' }),
      appPackage({ 'b.txt': 'a', 'b/c.txt': 'c' }),
      appPackage({ ...files, 'd.txt': '' }),
      appPackage(files, { name: 'Watch' }),
    ]
    expect(new Set([sha256, ...others.map((other) => other.sha256)]).size).toBe(6)
  })

  test('is told everything that is wrong with it at once', () => {
    const manifest = { slug: 5, name: '\u001b[31m', version: '1', category: 'games', entry: 'x.js', admin_only: 'yes' }
    expect(problemsOf({ '../x': '', 'a b': '', a: '', 'a/b': '' }, { ...manifest, icon: 'icon.svg' })).toEqual([
      '../x: leads out of the package',
      'a b: has a name with other signs than letters, digits and . _ - @ + ~ = ,',
      'a/b: cannot stand below a, which is a file',
      'app.json: slug: must have 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen',
      'app.json: name: must be a text of 1 to 100 printable characters',
      'app.json: version: must be a version such as 1.0.0 (semver.org)',
      'app.json: category: must be one of productivity, communication, finance, utility, entertainment, ai, maps, custom',
      'app.json: entry: must be the path of an .html file of the package',
      'app.json: admin_only: must be true or false',
    ])
  })

  test.each([
    ['entry', { entry: 'start.html' }, 'names start.html, which is not there'],
    ['icon', { icon: 'icon.svg' }, 'names icon.svg, which is not there'],
  ])('needs its %s', (field, manifest, message) => {
    expect(problemsOf({}, manifest)).toEqual([`app.json: ${field}: ${message}`])
  })

  test.each(['', 'null', '[]', '"x"', '{', '{"slug":"clock"', new Uint8Array([0xff, 0xfe])])(
    'needs a manifest that is one, not %j',
    (text) => {
      expect(problemsOf({ 'app.json': text })).toEqual(['app.json: is not a JSON object'])
    },
  )

  test('needs a manifest, and no large one', () => {
    const files = filesOfApp()
    files.delete('app.json')
    expect(lines(validatePackage(files).problems)).toEqual(['app.json: is missing'])
    expect(lines(validatePackage(new Map()).problems)).toEqual(['app.json: is missing'])
    expect(problemsOf({}, { description: 'x'.repeat(70_000) })).toEqual(['app.json: has more than 64 KiB'])
  })

  test('has fields of its own only, not those of every object', () => {
    const files = filesOfApp({ 'app.json': '{"__proto__":{"slug":"x","name":"X","version":"1.0.0"}}' })
    expect(lines(validatePackage(files).problems)).toEqual([
      'app.json: slug: is missing',
      'app.json: name: is missing',
      'app.json: version: is missing',
    ])
  })

  test.each([
    '/etc/passwd',
    '..',
    '../x',
    'a/../../x',
    'a/./b',
    './a',
    'a//b',
    'a/',
    '',
    '.hidden',
    'a/.hidden',
    'a\\b',
    'a\0b',
    'a\nb',
    'ä.html',
    'a%2fb',
    'a?b',
    'a#b',
    'a:b',
    '\u202egpj.exe',
    'x'.repeat(packageLimits.path + 1),
  ])('has no file %j', (path) => {
    expect(problemsOf({ [path]: 'x' })).toHaveLength(1)
  })

  test('has only so many files and bytes', () => {
    const many = Object.fromEntries(Array.from({ length: packageLimits.files - 1 }, (_, at) => [`f${at}`, '']))
    expect(problemsOf(many)).toEqual(['has more than 2000 files'].map((message) => `: ${message}`))
    const { [`f0`]: _, ...fewer } = many
    expect(problemsOf(fewer)).toEqual([])
    const half = new Uint8Array(packageLimits.fileBytes)
    expect(problemsOf({ a: half, b: half })).toEqual([': has more than 64 MiB'])
    expect(problemsOf({ a: new Uint8Array(packageLimits.fileBytes + 1) })).toEqual(['a: has more than 32 MiB'])
  })
})

describe('the author of a page is told', () => {
  const told = (html: string, files: Record<string, string> = {}) => {
    const { app, warnings } = validatePackage(filesOfApp({ 'index.html': html, ...files }))
    expect(app).toBeDefined()
    return warnings.map(({ message }) => message)
  }

  test.each([
    ['<script src="https://cdn.example/x.js"></script>', 'loads "https://cdn.example/x.js" from another origin'],
    ['<img src=//cdn.example/x.png>', 'loads "//cdn.example/x.png" from another origin'],
    ["<LINK REL=stylesheet HREF='http://cdn.example/x.css'>", 'loads "http://cdn.example/x.css" from another origin'],
    ['<img src="/logo.png">', 'loads "/logo.png" from outside the package'],
    ['<img src="../../logo.png">', 'loads "../../logo.png" from outside the package'],
    ['<img src="javascript:x()">', 'loads "javascript:x()" from another origin'],
    ['<img src="logo.png">', 'loads "logo.png", which the package does not have'],
    ['<script>go()</script>', 'has a script in the page'],
    ['<script type="module">go()</script>', 'has a script in the page'],
    ['<body onload="go()">', 'has a handler in the attribute onload'],
  ])('%s', (html, message) => {
    expect(told(html)).toEqual([expect.stringContaining(message)])
  })

  test('nothing about what is fine', () => {
    const html = `<!doctype html><a href="https://example.org">out</a><a href="#top">up</a>
      <script type="module" src="./js/app.js?v=2"></script><script type="application/json">{}</script>
      <img src="data:image/png;base64,AA=="><!-- <img src="gone.png"> -->
      <link rel="stylesheet" href="style.css"><!-- <script>`
    expect(told(html, { 'js/app.js': '', 'style.css': '' })).toEqual([])
  })

  test('with little work, whatever the page', async () => {
    const size = 1_000_000
    const steps = await stepsOf(() => {
      for (const piece of ['<!--', '<a ', '<a href=', '<a b="', "<a b='", '<script', '<a\n', '< ', 'a=', '<a/ '])
        told(piece.repeat(size / piece.length))
      told(`<a ${'b '.repeat(size / 2)}`)
      told(`<a ${'b="c" '.repeat(size / 6)}>`)
    })
    expect(steps).toBeLessThan(1_000)
  })
})
