import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lookOf } from '../../../src/domain/accounts/look-alikes.ts'
import { hasUsernameLike } from '../../../src/storage/accounts/username-look.ts'
import { addUser, databaseOfTest, plansOf } from '../../support/storage.ts'

const username = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,63}$/)

test('the database finds every user name by its look, and not for its own account', async () => {
  const { database } = await databaseOfTest()
  const names = new Set(fc.sample(username, { numRuns: 300, seed: 1 }))
  for (const name of names) {
    const id = await addUser(database, name)
    expect([name, await hasUsernameLike(database.read, 0, lookOf(name))]).toEqual([name, true])
    const others = [...names].slice(0, [...names].indexOf(name))
    const isShared = others.some((other) => lookOf(other) === lookOf(name))
    expect([name, await hasUsernameLike(database.read, id, lookOf(name))]).toEqual([name, isShared])
  }
})

test('the look of a user name is found without reading all accounts', async () => {
  const { database } = await databaseOfTest()
  const plans = await plansOf(database, (on) => hasUsernameLike(on, 0, 'ada'))
  expect(plans).toEqual([expect.stringContaining('INDEX users_by_look')])
})
