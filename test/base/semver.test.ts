import { expect, test } from 'vitest'
import { compareVersions, isVersion } from '../../src/base/semver.ts'

// The order of the specification's own example (section 11.4.4), and more.
const ascending = [
  '0.0.1',
  '0.9.0',
  '1.0.0-0.3.7',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.2',
  '1.0.0-alpha.10',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1',
  '1.2.0',
  '1.10.0',
  '2.0.0',
  '10.0.0',
]

test('versions come in the order of the specification', () => {
  for (const [at, version] of ascending.entries()) {
    expect(isVersion(version)).toBe(true)
    for (const [other, against] of ascending.entries())
      expect([version, against, Math.sign(compareVersions(version, against))]).toEqual([
        version,
        against,
        Math.sign(at - other),
      ])
  }
})

test('what a build is called counts for nothing', () => {
  expect(compareVersions('1.0.0+20261121', '1.0.0+001.x')).toBe(0)
  expect(compareVersions('1.0.0-rc.1+a', '1.0.0')).toBeLessThan(0)
})

test.each([
  '',
  '1',
  '1.0',
  '1.0.0.0',
  'v1.0.0',
  '01.0.0',
  '1.0.0-',
  '1.0.0-01',
  '1.0.0-a..b',
  '1.0.0+',
  '1.0.0 ',
  '1.0.0\n',
  '-1.0.0',
  '1.0.0-ä',
  `1.0.0-${'a'.repeat(100)}`,
  `${'9'.repeat(20)}.0.0`,
])('%j is no version', (text) => {
  expect(isVersion(text)).toBe(false)
  expect(() => compareVersions(text, '1.0.0')).toThrow(RangeError)
})
