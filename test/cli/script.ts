// Scripts read like a terminal session:
//
//   # a remark
//   > secret.txt analytical engine     writes a file of one line into the working folder, before the command that follows
//   $ svc user add ada                 runs a command, each script in a data directory of its own
//   < analytical engine                a line of its standard input
//   Added ada.                         a line it prints; … stands for any text in it, a line ... for any lines
//   ! svc: no such thing               a line it prints to standard error
//   ? 2                                its exit code, 0 where nothing is said
//   $ svc serve --port 0 &             runs until the end of the script; begins with the line that says it is ready,
//   $ svc login $URL                   and $URL is the address in that line, if there is one
//   % {"text":"Good morning."}         what a model at the address $MODEL answers next, as model-server.ts has it
//
// What is not expected must not be printed.

export interface Step {
  line: number
  command: string
  background: boolean
  files: { name: string; text: string }[]
  replies: string[]
  stdin: string
  stdout: string[]
  stderr: string[]
  code: number
}

export function parseScript(text: string): Step[] {
  const steps: Step[] = []
  let files: Step['files'] = []
  let replies: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const [mark, rest] = [line.slice(0, 2), line.slice(2)]
    const step = steps.at(-1)
    if (mark === '# ' || line === '#') continue
    if (mark === '> ') {
      const [, name, content] = /^(\S+) (.*)$/.exec(rest) ?? []
      if (name === undefined || content === undefined)
        throw new Error(`line ${index + 1}: a file needs a name and a text`)
      files.push({ name, text: `${content}\n` })
    } else if (mark === '% ') {
      replies.push(rest)
    } else if (mark === '$ ') {
      const background = rest.endsWith(' &')
      const command = background ? rest.slice(0, -2) : rest
      steps.push({ line: index + 1, command, background, files, replies, stdin: '', stdout: [], stderr: [], code: 0 })
      files = []
      replies = []
    } else if (!step) {
      if (line.trim() !== '') throw new Error(`line ${index + 1}: nothing was run that could print this`)
    } else if (mark === '< ') step.stdin += `${rest}\n`
    else if (mark === '! ') step.stderr.push(rest)
    else if (mark === '? ') step.code = Number(rest)
    else step.stdout.push(line)
  }
  for (const { stdout } of steps) while (stdout.at(-1) === '') stdout.pop()
  return steps
}

/** A command line as words; quotes hold together what has spaces. */
export const splitWords = (command: string): string[] =>
  [...command.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'))

/** Whether a text is what a script expects, line by line. */
export function isExpected(printed: string, expected: readonly string[]): boolean {
  const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const lines = expected.map((line) =>
    line === '...' ? '(?:[^\\n]*\\n)*' : `${line.split('…').map(escape).join('[^\\n]*')}\\n`,
  )
  return new RegExp(`^${lines.join('')}$`).test(printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`)
}
