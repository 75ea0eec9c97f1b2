import { valueGlobals, type FlagCompletion, type Tree } from './command-tree.ts'

const flagWords = (flags: readonly FlagCompletion[]): string =>
  flags.flatMap(({ long, short }) => (short ? [long, short] : [long])).join(' ')

/** The script for bash 3.2 and later. Words contain no quotes or spaces, so they need no escaping. */
export function bash(tree: Tree): string {
  const commands = tree.nouns.flatMap((noun) =>
    noun.verbs.map((verb) => ({ words: `${noun.name} ${verb.name}`.trim(), ...verb })),
  )
  const aliases = tree.nouns.filter(({ aliases }) => aliases.length > 0)
  const withVerbs = tree.nouns
    .map(({ name, verbs }) => ({ name, verbs: verbs.flatMap((verb) => verb.name || []) }))
    .filter(({ verbs }) => verbs.length > 0)
  const values = commands.flatMap(({ words, flags }) =>
    flags.filter(({ takesValue }) => takesValue).map((flag) => ({ words, ...flag })),
  )
  return `# bash completion for svc
_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} noun='' verb='' skip='' word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${valueGlobals(tree).join('|')}) skip=1 ;;
      -*) ;;
      *) if [[ -z $noun ]]; then noun=$word; elif [[ -z $verb ]]; then verb=$word; fi ;;
    esac
  done
  [[ -n $skip ]] && return
  case $noun in
${aliases.map(({ name, aliases }) => `    ${aliases.join('|')}) noun=${name} ;;`).join('\n')}
  esac
  local verbs=''
  case $noun in
${withVerbs.map(({ name, verbs }) => `    ${name}) verbs='${verbs.join(' ')}' ;;`).join('\n')}
  esac
  local command=$noun
  [[ -n $verb && " $verbs " == *" $verb "* ]] && command="$noun $verb"
  case "$command $prev" in
${values.map(({ words, long, choices }) => `    '${words} ${long}') ${choices.length > 0 ? `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur")); ` : ''}return ;;`).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    local flags=''
    case $command in
${commands.map(({ words, flags }) => `      '${words}') flags='${flagWords(flags)}' ;;`).join('\n')}
    esac
    COMPREPLY=($(compgen -W "$flags ${flagWords(tree.globals)}" -- "$cur"))
  elif [[ -z $noun ]]; then
    COMPREPLY=($(compgen -W '${tree.nouns.map(({ name }) => name).join(' ')} help' -- "$cur"))
  elif [[ -z $verb && -n $verbs ]]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$cur"))
  fi
}
complete -o default -F _svc svc
`
}
