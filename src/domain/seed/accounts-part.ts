import { readablePassword } from '../../base/random.ts'
import { formatSize } from '../../base/sizes.ts'
import type { Account } from '../../storage/accounts/accounts.ts'
import { assertNewPassword, assertNotReserved, normalName, type NewUser } from '../accounts/accounts.ts'
import { quotaBytes } from './check.ts'
import { hashOf, personOf, remember, seededBefore, SourceError } from './seed-context.ts'
import type { Item, Part, Person, Planning, SeedProgress } from './seed-context.ts'
import { objection, type Path } from './problems.ts'
import type { SeedUser } from './seed-schema.ts'

interface Task {
  person: Person
  create: NewUser | undefined
  changes: Pick<NewUser, 'display_name' | 'role' | 'quota_bytes'>
  /** The password to set, of a new or an existing account. */
  password: Password | undefined
  /** The hash to record for the display name. */
  nameHash: string | undefined
}

type Password = { given: string | { hash: string } } | { made: true }

const NAME = 'display_name'

/** Role and quota are reset to the seed's values in every run; the password is set once. */
export async function planAccounts(planning: Planning): Promise<Part> {
  const items: Item[] = []
  const tasks: Task[] = []
  let unchanged = 0
  for (const { path, value: user } of planning.seed.users) {
    const task = await taskFor(planning, user, path)
    const own = itemsOf(task)
    items.push(...own)
    if (own.length === 0) unchanged += 1
    if (own.length > 0 || task.nameHash !== undefined) tasks.push(task)
  }
  await refuseNoAdmin(planning, tasks)
  return { items, unchanged, apply: (watcher) => apply(planning, tasks, watcher) }
}

async function taskFor(planning: Planning, user: SeedUser, path: Path): Promise<Task> {
  const person = personOf(planning, user)
  const { account } = person
  const password = await passwordFor(planning, user, path, person)
  const obstacle = account && obstacleOf(account)
  if (obstacle !== undefined)
    planning.problems.push({ path: [...path, 'username'], message: `is the name of an account ${obstacle}` })
  const display_name = user.display_name?.trim()
  const quota = user.quota === undefined ? undefined : quotaBytes(user.quota)
  if (!account) {
    const reserved = objection(() => assertNotReserved(person.username))
    if (reserved !== undefined) planning.problems.push({ path: [...path, 'username'], message: reserved })
    const create: NewUser = {
      username: user.username,
      password: '',
      ...(display_name !== undefined && { display_name }),
      ...(user.role !== undefined && { role: user.role }),
      ...(quota !== undefined && { quota_bytes: quota }),
    }
    return { person, create, changes: {}, password, nameHash: display_name && hashOf(display_name) }
  }
  // A user may change the display name: set it again only if the seed's value changed.
  const isNews = display_name !== undefined && seededBefore(person, NAME, '')?.hash !== hashOf(display_name)
  const changes = {
    ...(isNews && display_name !== account.display_name && { display_name }),
    ...(user.role !== undefined && user.role !== account.role && { role: user.role }),
    ...(quota !== undefined && quota !== account.quota_bytes && { quota_bytes: quota }),
  }
  return { person, create: undefined, changes, password, nameHash: isNews ? hashOf(display_name) : undefined }
}

/** Why an account takes nothing from a seed. */
function obstacleOf({ removing_since, importing_at }: Account): string | undefined {
  if (removing_since !== null) return 'that is being removed'
  return importing_at === null ? undefined : 'whose import is not complete'
}

/** The password to set. Reports one that breaks a rule. */
async function passwordFor(
  { sources, options, problems, policy }: Planning,
  { password, password_file, password_hash, generate, display_name }: SeedUser,
  path: Path,
  { username, account }: Person,
): Promise<Password | undefined> {
  const isSet = !account || options.resetPasswords === true
  // A display name that its user changed stays.
  const known = isSet ? [display_name ?? '', account?.display_name ?? '', (await policy()).hostName] : []
  const checked = (field: string, given: string): Password => {
    const message = objection(() => assertNewPassword(given, username, { known }))
    if (message !== undefined) problems.push({ path: [...path, field], message })
    return { given }
  }
  const chosen = password === undefined ? undefined : checked('password', password)
  // A source that is not needed may be missing: secrets need not be kept.
  if (!isSet) return undefined
  if (chosen) return chosen
  if (password_hash !== undefined) return { given: { hash: password_hash } }
  if (generate) return { made: true }
  if (password_file === undefined) {
    const message = 'is a new account and needs one of password_file, password_hash, generate and password'
    if (!account) problems.push({ path, message })
    return undefined
  }
  try {
    return checked('password_file', await sources.secret(password_file))
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    problems.push({ path: [...path, 'password_file'], message: error.message })
    return undefined
  }
}

const quotaText = (bytes: number | null): string =>
  bytes === null ? 'default' : bytes < 0 ? 'none' : formatSize(bytes)

function itemsOf({ person: { username, account }, create, changes, password }: Task): Item[] {
  const change = (text: string): Item => ({ action: 'change', kind: 'user', text })
  if (create || !account) return [{ action: 'add', kind: 'user', text: `user ${username}` }]
  const { display_name: name, role, quota_bytes: quota } = changes
  return [
    ...(name === undefined ? [] : [change(`display name of ${username}: ${account.display_name} → ${name}`)]),
    ...(role === undefined ? [] : [change(`role of ${username}: ${account.role} → ${role}`)]),
    ...(quota === undefined
      ? []
      : [change(`quota of ${username}: ${quotaText(account.quota_bytes)} → ${quotaText(quota)}`)]),
    ...(password === undefined ? [] : [change(`password of ${username}`)]),
  ]
}

/** Reports a problem if the plan leaves the server without an administrator. */
async function refuseNoAdmin({ accounts, seed, problems }: Planning, tasks: readonly Task[]): Promise<void> {
  const demoted = tasks.filter(({ changes }) => changes.role === 'user').map(({ person }) => person.username)
  if (demoted.length === 0 || tasks.some(({ create, changes }) => (create ?? changes).role === 'admin')) return
  const remains = (await accounts.list()).some(
    ({ username, role, disabled_at }) => role === 'admin' && disabled_at === null && !demoted.includes(username),
  )
  if (remains) return
  const { path } = seed.users.find(({ value }) => demoted.includes(normalName(value.username)))!
  problems.push({ path: [...path, 'role'], message: 'would leave the server without an administrator' })
}

/** Accounts created concurrently: their passwords are hashed in parallel, and they share a commit. */
const CONCURRENCY = 8

async function apply(planning: Planning, tasks: readonly Task[], watcher: SeedProgress): Promise<void> {
  const made = tasks.filter(({ create }) => create)
  for (let first = 0; first < made.length; first += CONCURRENCY) {
    const group = made.slice(first, first + CONCURRENCY).map((task) => create(planning, task, watcher))
    // Wait for all, so that none is pending after a failure.
    const failed = (await Promise.allSettled(group)).find((outcome) => outcome.status === 'rejected')
    if (failed) throw failed.reason as Error
  }
  const changed = tasks.filter(({ create }) => !create)
  // Promotions first, so that there is always an administrator.
  for (const task of changed.toSorted(
    (a, b) => Number(b.changes.role === 'admin') - Number(a.changes.role === 'admin'),
  ))
    await change(planning, task, watcher)
}

async function create(planning: Planning, { person, create, password, nameHash }: Task, watcher: SeedProgress) {
  const given = chosen(password!)
  const { id } = await planning.accounts.create({ ...create!, password: given })
  person.id = id
  if (nameHash !== undefined) await remember(planning, person, [nameEntry(nameHash)])
  if ('made' in password!) watcher.made({ kind: 'password', username: person.username, secret: given as string })
  watcher.done(1)
}

async function change(planning: Planning, { person, changes, password, nameHash }: Task, watcher: SeedProgress) {
  const id = person.id!
  if (Object.keys(changes).length > 0) await planning.accounts.update(id, changes)
  if (nameHash !== undefined) await remember(planning, person, [nameEntry(nameHash)])
  if (password) {
    const given = chosen(password)
    await planning.accounts.setPassword(id, given, { keep_devices: true })
    if ('made' in password) watcher.made({ kind: 'password', username: person.username, secret: given as string })
  }
  watcher.done(Object.keys(changes).length + (password ? 1 : 0))
}

const chosen = (password: Password): string | { hash: string } =>
  'made' in password ? readablePassword() : password.given

const nameEntry = (hash: string) => ({ kind: NAME, key: '', hash, target: null, version: null })
