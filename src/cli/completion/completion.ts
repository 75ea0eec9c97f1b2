import { command } from '../command.ts'
import { usage } from '../exit.ts'

const shells = {
  bash: () => import('./bash.ts').then((m) => m.bash),
  zsh: () => import('./zsh.ts').then((m) => m.zsh),
  fish: () => import('./fish.ts').then((m) => m.fish),
  powershell: () => import('./powershell.ts').then((m) => m.powershell),
}

export const completion = command({
  name: 'completion',
  summary: 'Print completion for bash, zsh, fish or powershell',
  details:
    'Prints a script for the shell to load:\n' +
    '  bash        svc completion bash > ~/.local/share/bash-completion/completions/svc\n' +
    '  zsh         svc completion zsh > FOLDER/_svc   (a folder of $fpath)\n' +
    '  fish        svc completion fish > ~/.config/fish/completions/svc.fish\n' +
    '  powershell  svc completion powershell >> $PROFILE',
  needs: 'commands',
  onlyPrints: true,
  args: { shell: 'bash, zsh, fish or powershell' },
  flags: {},
  examples: ['svc completion bash > ~/.local/share/bash-completion/completions/svc', 'source <(svc completion zsh)'],
  async run({ io, nouns, args: { shell } }) {
    if (!Object.hasOwn(shells, shell))
      throw usage(`There is no completion for "${shell}": choose ${Object.keys(shells).join(', ')}.`)
    const [write, { readTree }] = await Promise.all([
      shells[shell as keyof typeof shells](),
      import('./command-tree.ts'),
    ])
    await io.raw(write(await readTree(nouns)))
  },
})
