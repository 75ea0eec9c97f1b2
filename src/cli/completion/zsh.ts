import { valueGlobals, type FlagCompletion, type Tree } from './command-tree.ts'

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** An entry of `_describe`, in which a colon ends the word. */
const entry = (word: string, summary: string): string => quoted(`${word.replaceAll(':', '\\:')}:${summary}`)

const flagEntries = (flags: readonly FlagCompletion[]): string =>
  flags
    .flatMap(({ long, short, summary }) => [entry(long, summary), ...(short ? [entry(short, summary)] : [])])
    .join(' ')

/** The script for zsh: loaded by compinit from a folder of $fpath, or sourced. */
export function zsh(tree: Tree): string {
  const commands = tree.nouns.flatMap((noun) =>
    noun.verbs.map((verb) => ({ words: `${noun.name} ${verb.name}`.trim(), ...verb })),
  )
  const withVerbs = tree.nouns
    .map(({ name, verbs }) => ({ name, verbs: verbs.filter((verb) => verb.name !== '') }))
    .filter(({ verbs }) => verbs.length > 0)
  const values = commands.flatMap(({ words, flags }) =>
    flags.filter(({ takesValue }) => takesValue).map((flag) => ({ words, ...flag })),
  )
  return `#compdef svc
# zsh completion for svc
_svc() {
  local noun='' verb='' skip='' word prev=$words[CURRENT-1]
  local -a verbs flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${valueGlobals(tree).join('|')}) skip=1 ;;
      -*) ;;
      *) if [[ -z $noun ]]; then noun=$word; elif [[ -z $verb ]]; then verb=$word; fi ;;
    esac
  done
  if [[ -n $skip ]]; then _files; return; fi
  case $noun in
${tree.nouns
  .filter(({ aliases }) => aliases.length > 0)
  .map(({ name, aliases }) => `    ${aliases.join('|')}) noun=${name} ;;`)
  .join('\n')}
  esac
  case $noun in
${withVerbs.map(({ name, verbs }) => `    ${name}) verbs=(${verbs.map((verb) => entry(verb.name, verb.summary)).join(' ')}) ;;`).join('\n')}
  esac
  local command=$noun
  [[ -n $verb && -n \${(M)verbs:#$verb:*} ]] && command="$noun $verb"
  case "$command $prev" in
${values.map(({ words, long, choices }) => `    '${words} ${long}') ${choices.length > 0 ? `compadd -- ${choices.join(' ')}` : '_files'}; return ;;`).join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    case $command in
${commands.map(({ words, flags }) => `      '${words}') flags=(${flagEntries(flags)}) ;;`).join('\n')}
    esac
    flags+=(${flagEntries(tree.globals)})
    _describe -o flag flags
  elif [[ -z $noun ]]; then
    local -a nouns=(${tree.nouns.map(({ name, summary }) => entry(name, summary)).join(' ')} ${entry('help', 'show help')})
    _describe command nouns
  elif [[ -z $verb && $#verbs -gt 0 ]]; then
    _describe command verbs
  else
    _files
  fi
}
if [[ $funcstack[1] == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`
}
