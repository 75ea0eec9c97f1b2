import type { AnswerOf } from '../wire/actions.ts'
import { catalogue } from './language.ts'

export type SecurityEvent = AnswerOf<'accountSettings.security_events'>['events'][number]

const words = catalogue(
  {
    'user.password': 'Password changed',
    '2fa.enabled': 'Second factor turned on',
    '2fa.disabled': 'Second factor turned off',
    '2fa.reset': 'Second factor reset',
    '2fa.codes_regenerated': 'New backup codes created',
    '2fa.backup_code_used': 'Signed in with a backup code',
    '2fa.bypass_made': 'Bypass code created',
    '2fa.bypass_used': 'Signed in with a bypass code',
    '2fa.locked': 'Second factor locked after wrong codes',
    'login.locked': 'Account locked after wrong passwords',
    'token.issued': 'New device signed in',
    'token.minted': 'Device token created',
    administrator: 'by an administrator',
    stranger: 'by someone who was not signed in',
    check: 'If this was not you, change your password now.',
  },
  {
    'user.password': 'Passwort geändert',
    '2fa.enabled': 'Zweiter Faktor aktiviert',
    '2fa.disabled': 'Zweiter Faktor deaktiviert',
    '2fa.reset': 'Zweiter Faktor zurückgesetzt',
    '2fa.codes_regenerated': 'Neue Backup-Codes erstellt',
    '2fa.backup_code_used': 'Mit einem Backup-Code angemeldet',
    '2fa.bypass_made': 'Notfallcode erstellt',
    '2fa.bypass_used': 'Mit einem Notfallcode angemeldet',
    '2fa.locked': 'Zweiter Faktor nach falschen Codes gesperrt',
    'login.locked': 'Konto nach falschen Passwörtern gesperrt',
    'token.issued': 'Neues Gerät angemeldet',
    'token.minted': 'Gerätetoken erstellt',
    administrator: 'durch die Administration',
    stranger: 'durch eine nicht angemeldete Person',
    check: 'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort.',
  },
)

export const securityEventTitle = ({ kind, device_name }: SecurityEvent): string =>
  device_name ? `${words(kind)}: ${device_name}` : words(kind)

/** The actor; empty if it was the user. */
export const securityEventActor = ({ by }: SecurityEvent): string => (by === 'self' ? '' : words(by))

export const securityAdvice = (): string => words('check')
