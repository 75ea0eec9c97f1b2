import { valueGlobals, type FlagCompletion, type Tree } from './command-tree.ts'

const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

const flagLine = (condition: string, { long, short, summary, takesValue, choices }: FlagCompletion): string =>
  [
    `complete -c svc${condition ? ` -n ${quoted(condition)}` : ''} -l ${long.slice(2)}`,
    ...(short ? [`-s ${short.slice(1)}`] : []),
    ...(choices.length > 0 ? [`-x -a ${quoted(choices.join(' '))}`] : takesValue ? ['-r'] : []),
    `-d ${quoted(summary)}`,
  ].join(' ')

/** The script for fish 3. */
export function fish(tree: Tree): string {
  const aliases = tree.nouns.flatMap(({ name, aliases }) =>
    aliases.length > 0 ? [`            case ${aliases.join(' ')}\n                set words[1] ${name}`] : [],
  )
  const lines = tree.nouns.flatMap(({ name, summary, verbs }) => [
    `complete -c svc -f -n __svc_at -a ${name} -d ${quoted(summary)}`,
    ...verbs.flatMap((verb) => {
      // The noun itself is a command only if none of its verbs follows.
      const others =
        verb.name === ''
          ? verbs.flatMap((other) => (other.name === '' ? [] : [`; and not __svc_in ${name} ${other.name}`]))
          : []
      const condition = [`__svc_in ${name} ${verb.name}`.trim(), ...others].join('')
      return [
        ...(verb.name === ''
          ? []
          : [`complete -c svc -f -n ${quoted(`__svc_at ${name}`)} -a ${verb.name} -d ${quoted(verb.summary)}`]),
        ...verb.flags.map((flag) => flagLine(condition, flag)),
      ]
    }),
  ])
  return `# fish completion for svc
function __svc_words
    set -l words
    set -l skip 0
    for token in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $token
            case ${valueGlobals(tree).join(' ')}
                set skip 1
            case '-*'
            case '*'
                set -a words $token
        end
    end
    if set -q words[1]
        switch $words[1]
${aliases.join('\n')}
        end
    end
    printf '%s\\n' $words
end

# Whether exactly these words stand before the cursor, and whether they begin what stands there.
function __svc_at
    set -l words (__svc_words)
    test "$words" = "$argv"
end
function __svc_in
    set -l words (__svc_words)
    set -l length (count $argv)
    test (count $words) -ge $length; and test "$words[1..$length]" = "$argv"
end

${lines.join('\n')}
${tree.globals.map((flag) => flagLine('', flag)).join('\n')}
`
}
