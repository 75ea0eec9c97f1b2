/** An early answer for the model; the security boundary is the sandbox. */
const BLOCKED: readonly [pattern: RegExp, reason: string][] = [
  [
    /\brm\s+(-\S+\s+)*(-[a-z]*[rR][a-z]*|--recursive)\s+(-\S+\s+)*(--no-preserve-root\s+)?\/(\s|\*|;|&|\||$)/,
    'it would delete everything',
  ],
  [/\bmkfs(\.\w+)?\b/, 'it would format a disk'],
  [/\bdd\b[^;|&]*\bof=\/dev\//, 'it would write to a device'],
  [/(>|\btee\b)\s*(-a\s+)?\/dev\/(sd|hd|vd|nvme|mmcblk|mapper)/, 'it would write to a device'],
  [/:\s*\(\s*\)\s*\{[^}]*:\s*\|\s*:/, 'it is a fork bomb'],
  [/(^|[\s;|&(`])(shutdown|reboot|halt|poweroff)\b/, 'it would stop the machine'],
  [/(^|[\s;|&(`])(sudo|su|doas|pkexec)(\s|$)/, 'it asks for other rights'],
  [/\bchmod\s+(-\S+\s+)*-[a-zA-Z]*R\S*\s+\S*777\s+\/(\s|$)/, 'it would open every file to everybody'],
  [/(^|[\s;|&(`])(curl|wget|nc|ncat|netcat|ssh|scp|sftp|telnet|rsync)(\s|$)/, 'there is no network'],
  [/\/etc\/(shadow|gshadow|sudoers)/, 'it reaches for the secrets of the machine'],
  [/(^|[\s;|&(`])(mount|umount|insmod|modprobe|iptables|nft|systemctl|crontab)(\s|$)/, 'it would change the machine'],
  [/(^|[\s;|&(`])(docker|podman|kubectl)(\s|$)/, 'there are no containers'],
]

/** Why a command is refused; undefined if it is not. */
export const refusedCommand = (command: string): string | undefined =>
  BLOCKED.find(([pattern]) => pattern.test(command))?.[1]
