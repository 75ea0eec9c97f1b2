import { expect, test } from 'vitest'
import { errors } from '../../src/contract/errors.ts'
import { findingText, findingTexts, readFindingText, type FindingText } from '../../src/contract/finding-texts.ts'
import { germanFinding } from '../../src/desktop/apps/admin/german-finding.ts'
import { germanFindings } from '../../src/desktop/apps/admin/german-findings.ts'
import { english, german } from '../../src/desktop/kit/error-messages.ts'

test('every error code of the contract has a text of its own in German', () => {
  for (const code of Object.keys(errors) as (keyof typeof errors)[]) {
    expect([code, String(german[code])]).not.toEqual([code, String(english[code])])
    expect(String(german[code])).not.toBe('')
  }
})

const keys = Object.keys(findingTexts) as FindingText[]
const valuesOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

test('every finding of the doctor is recognised with its values and shown in German', () => {
  for (const key of keys) {
    const values = Object.fromEntries(valuesOf(findingTexts[key]).map((name) => [name, `/srv/${name}-1`]))
    const text = findingText(key, values)
    expect(readFindingText(text)).toEqual({ key, values })
    expect(valuesOf(germanFindings[key]).toSorted()).toEqual(valuesOf(findingTexts[key]).toSorted())
    const shown = germanFinding(text)
    expect(shown).not.toBe(text)
    for (const value of Object.values(values)) expect(shown).toContain(value)
  }
})

test('a finding within a finding is German too, and the message of a system error stays as it is', () => {
  const found = findingText('backup_last', { id: '2026-11-22', place: '/srv', time: '3 d 4 h' })
  expect(germanFinding(findingText('backup_overdue', { found }))).toBe(
    '2026-11-22 in /srv, vor 3 d 4 h, später als geplant',
  )
  expect(germanFinding(findingText('disk_free', { size: '1.5 GB', path: '/srv' }))).toBe('1,5 GB frei in /srv')
  expect(germanFinding('EIO: i/o error, read')).toBe('EIO: i/o error, read')
})
