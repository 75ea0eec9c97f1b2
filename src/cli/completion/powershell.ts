import { valueGlobals, type FlagCompletion, type Tree } from './command-tree.ts'

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const table = (indent: string, entries: readonly (readonly [string, string])[]): string =>
  `[ordered]@{\n${entries.map(([key, value]) => `${indent}  ${quoted(key)} = ${value}\n`).join('')}${indent}}`

const flagTable = (indent: string, flags: readonly FlagCompletion[]): string =>
  table(
    indent,
    flags.map(({ long, summary }) => [long, quoted(summary)]),
  )

/** The script for PowerShell 5 and later. */
export function powershell(tree: Tree): string {
  const commands = tree.nouns.flatMap((noun) =>
    noun.verbs.map((verb) => ({ words: `${noun.name} ${verb.name}`.trim(), ...verb })),
  )
  const choices = commands.flatMap(({ words, flags }) =>
    flags.flatMap(({ long, choices }) =>
      choices.length > 0 ? [[`${words} ${long}`, `@(${choices.map(quoted).join(', ')})`] as const] : [],
    ),
  )
  return `# PowerShell completion for svc
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $nouns = ${table(
    '  ',
    tree.nouns.map(({ name, summary }) => [name, quoted(summary)]),
  )}
  $aliases = ${table(
    '  ',
    tree.nouns.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, quoted(name)] as const)),
  )}
  $verbs = ${table(
    '  ',
    tree.nouns.map(({ name, verbs }) => [
      name,
      table(
        '    ',
        verbs.filter((verb) => verb.name !== '').map((verb) => [verb.name, quoted(verb.summary)]),
      ),
    ]),
  )}
  $flags = ${table(
    '  ',
    commands.map(({ words, flags }) => [words, flagTable('    ', flags)]),
  )}
  $choices = ${table('  ', choices)}
  $globals = ${flagTable('  ', tree.globals)}

  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  $words = @()
  $skip = $false
  foreach ($word in $before) {
    if ($skip) { $skip = $false; continue }
    if ($word -in @(${valueGlobals(tree).map(quoted).join(', ')})) { $skip = $true; continue }
    if (-not $word.StartsWith('-')) { $words += $word }
  }
  if ($words.Count -gt 0 -and $aliases.Contains($words[0])) { $words[0] = $aliases[$words[0]] }
  $noun = if ($words.Count -gt 0) { $words[0] } else { '' }
  $hasVerb = $words.Count -gt 1 -and $verbs.Contains($noun) -and $verbs[$noun].Contains($words[1])
  $command = if ($hasVerb) { "$noun $($words[1])" } else { $noun }
  $last = if ($before.Count -gt 0) { $before[-1] } else { '' }

  $found = [ordered]@{}
  if ($choices.Contains("$command $last")) { foreach ($choice in $choices["$command $last"]) { $found[$choice] = $choice } }
  elseif ($wordToComplete.StartsWith('-')) {
    if ($flags.Contains($command)) { foreach ($flag in $flags[$command].Keys) { $found[$flag] = $flags[$command][$flag] } }
    foreach ($flag in $globals.Keys) { $found[$flag] = $globals[$flag] }
  }
  elseif ($words.Count -eq 0) { $found = $nouns }
  elseif ($words.Count -eq 1 -and $verbs.Contains($noun)) { $found = $verbs[$noun] }
  foreach ($key in $found.Keys) {
    if ($key -like "$wordToComplete*") {
      [System.Management.Automation.CompletionResult]::new($key, $key, 'ParameterValue', $found[$key])
    }
  }
}
`
}
