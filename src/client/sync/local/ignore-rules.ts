import ignore, { type Ignore } from 'ignore'
import { TEMPORARY, IGNORE_FILE } from '../plan/reserved-paths.ts'
import { nameOf, ROOT, type IgnoredBy } from '../plan/sync-tree.ts'
import { Refused } from '../../refused.ts'

export interface IgnoreRules {
  /** Adds a folder's rules, after those of its parents. Throws `Refused` for rules that are too expensive to match. */
  add(folder: string, text: string): void
  /** The rule that ignores a path, if none of its parents is ignored; undefined if there is none. */
  find(path: string, isFolder: boolean): IgnoredBy | undefined
}

const ALWAYS: IgnoredBy = { file: '', line: 0, pattern: `${TEMPORARY}*` }

const MAX_LINE = 1_000
/** Limits on all rules, and on those that are matched against every name. */
const MAX_RULES = 20_000
const MAX_GENERAL = 300
/** Each `**` between folders multiplies the ways to match a path. */
const MAX_DEEP = 4

interface Rule extends IgnoredBy {
  /** Its place in the order: of several that match the last one decides. */
  index: number
  negative: boolean
  /** A negated rule without its `!`: it matches the path itself, whatever rules match its parents. */
  matcher: () => Ignore
}

/** Matches as git does: the last matching rule decides, those of deeper folders after those above. `fold` as for names. */
export function makeIgnoreRules(fold: boolean): IgnoreRules {
  const general: Rule[] = []
  /** Indexed by the last name of the pattern, or by its extension for `*.x`: most rules concern few names. */
  const byName = new Map<string, Rule[]>()
  const byExtension = new Map<string, Rule[]>()
  const matches = ({ matcher }: Rule, path: string): boolean => matcher().test(path).unignored
  let anyGeneral = ignore({ ignorecase: fold })
  let count = 0

  function rulesFor(name: string, path: string): Rule[] {
    const folded = fold ? name.toLowerCase() : name
    const own = [...(byName.get(folded) ?? []), ...(byExtension.get(extensionOf(folded)) ?? [])]
    return general.length > 0 && anyGeneral.test(path).unignored ? [...own, ...general] : own
  }

  return {
    add(folder, text) {
      const file = folder === ROOT ? `/${IGNORE_FILE}` : `${folder}/${IGNORE_FILE}`
      for (const [at, line] of text
        .replace(/^\uFEFF/, '')
        .split('\n')
        .entries()) {
        const pattern = line.replace(/\r$/, '')
        const body = bodyOf(pattern.replace(/^!/, '').normalize('NFC'), folder.normalize('NFC'))
        if (pattern.startsWith('#') || body === undefined) continue
        const refuse = (why: string): never => {
          throw refused(file, at + 1, why)
        }
        if (pattern.length > MAX_LINE) refuse(`has more than ${MAX_LINE} characters`)
        if ((pattern.match(/\*\*/g)?.length ?? 0) > MAX_DEEP) refuse(`contains ** more than ${MAX_DEEP} times`)
        if ((count += 1) > MAX_RULES) refuse(`is rule number ${MAX_RULES + 1}, which is too many`)
        const negated = `!${body}`
        let compiled: Ignore | undefined
        const matcher = (): Ignore => (compiled ??= ignore({ ignorecase: fold }).add({ pattern: negated }))
        const rule = { file, line: at + 1, pattern, index: count, negative: pattern.startsWith('!'), matcher }
        const last = nameOf(body.trimEnd().replace(/\/+$/, ''))
        const folded = fold ? last.toLowerCase() : last
        if (!/[*?[\]\\]/.test(last)) push(byName, folded, rule)
        else if (/^\*\.[^*?[\]\\]+$/.test(last)) push(byExtension, extensionOf(folded), rule)
        else if (general.push(rule) > MAX_GENERAL)
          refuse(`is number ${MAX_GENERAL + 1} of the rules with wildcards other than *.x`)
        else anyGeneral = anyGeneral.add({ pattern: negated })
      }
    },
    find(path, isFolder) {
      const name = nameOf(path).normalize('NFC')
      if (name.startsWith(TEMPORARY)) return ALWAYS
      if (count === 0) return undefined
      const asked = path.normalize('NFC').slice(1) + (isFolder ? '/' : '')
      const inOrder = rulesFor(name, asked).sort((a, b) => b.index - a.index)
      const found = inOrder.find((rule) => matches(rule, asked))
      if (!found || found.negative) return undefined
      return { file: found.file, line: found.line, pattern: found.pattern }
    },
  }
}

const extensionOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

function push(rules: Map<string, Rule[]>, name: string, rule: Rule): void {
  const list = rules.get(name)
  if (list) list.push(rule)
  else rules.set(name, [rule])
}

/** A pattern as in the root's file; undefined for an empty line. */
function bodyOf(pattern: string, folder: string): string | undefined {
  if (pattern.trim() === '') return undefined
  if (folder === ROOT) return pattern
  const over = folder.replace(/[\\*?[\]!# ]/g, '\\$&')
  // A trailing slash means a folder; any other slash anchors the pattern to its file's folder.
  const isAnchored = pattern.trimEnd().replace(/\/+$/, '').includes('/')
  if (!isAnchored) return `${over}/**/${pattern}`
  return over + (pattern.startsWith('/') ? pattern : `/${pattern}`)
}

const refused = (file: string, line: number, why: string): Refused =>
  new Refused('rules', `Line ${line} of ${file.slice(1)} ${why}: simplify it. Nothing was changed.`)
