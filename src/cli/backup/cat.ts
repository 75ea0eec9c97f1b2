import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { withBackupBrowser, browserFlags } from './backup-browser.ts'
import { BACKUP_NAMES } from '../backup-source.ts'

export const cat = command({
  name: 'backup cat',
  summary: 'Print one file of a backup',
  details: `Exit code 0 means that every byte is correct. ${BACKUP_NAMES}.`,
  needs: 'nothing',
  onlyPrints: true,
  args: { backup: 'backup' },
  flags: {
    user: flag.text('the account', 'NAME'),
    path: flag.text('the file', 'PATH'),
    ...browserFlags,
  },
  examples: [
    'svc backup cat latest --user ada --path /notes.txt',
    'svc backup cat 20261121 --user ada --path /a.csv | sort',
  ],
  async run({ io, globals, args, flags: { user, path, ...flags } }) {
    if (user === undefined || path === undefined) throw usage('Say which file: --user NAME --path PATH.')
    await withBackupBrowser({ io, globals, flags }, args.backup, async (browser) => {
      const [file] = await browser.below(user, path)
      if (file!.type !== 'file') throw new Exit(2, `${path} is a folder: svc backup extract restores it.`, 'usage')
      for await (const part of browser.read(file!)) await io.raw(part)
    })
  },
})
