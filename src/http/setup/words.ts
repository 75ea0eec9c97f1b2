const english = {
  language: 'en',
  title: 'Set up svc',
  heading: 'Create the first administrator',
  intro: 'This account manages the service and can create further accounts.',
  no_script: 'This page needs JavaScript. Without it, run this command on the server:',
  username: 'User name',
  username_rule: 'Letters a–z, digits, “.”, “_” and “-”.',
  display_name: 'Display name',
  display_name_rule: 'Optional. Other users see this name.',
  password: 'Password',
  password_rule: 'At least 8 characters; 15 or more are better.',
  repeated: 'Repeat the password',
  create: 'Create administrator',
  welcome: 'Welcome,',
  done: 'The service is set up, and this link no longer works.',
  desktop: 'Go to the desktop',
  terminal: 'To sign in from a terminal, run:',
  differ: 'The two passwords differ.',
  unreachable: 'The server cannot be reached. Is it still running?',
  failed: 'That did not work. The log of the server says more.',
  closed_title: 'The service is set up',
  closed_text:
    'It already has an administrator, so this link no longer works. Sign in, or ask the administrator for an account.',
  invalid_title: 'This set-up link is not valid',
  invalid_text:
    'It may be incomplete or older than half an hour. Start the server again for a new one, or run this command on the server:',
  // The server's own texts are English.
  errors: {},
}

type SetupWords = Omit<typeof english, 'errors'> & { errors: Record<string, string> }

const german: SetupWords = {
  language: 'de',
  title: 'svc einrichten',
  heading: 'Ersten Administrator anlegen',
  intro: 'Dieses Konto verwaltet den Dienst und kann weitere Konten anlegen.',
  no_script: 'Diese Seite benötigt JavaScript. Führen Sie andernfalls auf dem Server diesen Befehl aus:',
  username: 'Benutzername',
  username_rule: 'Buchstaben a–z, Ziffern, „.“, „_“ und „-“.',
  display_name: 'Anzeigename',
  display_name_rule: 'Optional. Diesen Namen sehen andere Benutzer.',
  password: 'Passwort',
  password_rule: 'Mindestens 8 Zeichen, besser 15 oder mehr.',
  repeated: 'Passwort wiederholen',
  create: 'Administrator anlegen',
  welcome: 'Willkommen,',
  done: 'Der Dienst ist eingerichtet. Dieser Link ist damit ungültig.',
  desktop: 'Zum Desktop',
  terminal: 'So melden Sie sich im Terminal an:',
  differ: 'Die beiden Passwörter stimmen nicht überein.',
  unreachable: 'Der Server ist nicht erreichbar. Läuft er noch?',
  failed: 'Das hat nicht funktioniert. Näheres steht im Protokoll des Servers.',
  closed_title: 'Der Dienst ist eingerichtet',
  closed_text:
    'Er hat bereits einen Administrator. Dieser Link ist daher ungültig. Melden Sie sich an oder bitten Sie die Administration um ein Konto.',
  invalid_title: 'Dieser Einrichtungslink ist ungültig',
  invalid_text:
    'Er ist möglicherweise unvollständig oder älter als eine halbe Stunde. Starten Sie den Server neu, um einen neuen Link zu erhalten, oder führen Sie auf dem Server diesen Befehl aus:',
  errors: {
    bad_request: 'Der Benutzername oder das Passwort ist nicht zulässig. Vermeiden Sie häufig verwendete Passwörter.',
    exists: 'Ein Konto mit diesem Benutzernamen ist bereits vorhanden.',
    gone: 'Der Dienst hat bereits einen Administrator. Melden Sie sich an.',
    not_found:
      'Dieser Einrichtungslink ist ungültig oder abgelaufen. Starten Sie den Server neu, um einen neuen zu erhalten.',
    rate_limited: 'Zu viele Anfragen. Versuchen Sie es in einigen Sekunden erneut.',
    busy: 'Der Server ist ausgelastet. Versuchen Sie es gleich noch einmal.',
    disk_full: 'Die Festplatte des Servers ist voll. Es wurde nichts gespeichert.',
  },
}

/** The messages in the language that the browser prefers (Accept-Language, RFC 9110, 12.5.4). */
export function setupWordsFor(acceptLanguage = ''): SetupWords {
  const ranges = acceptLanguage.split(',').map((range) => {
    const [tag = '', quality = '1'] = range
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/)
    return { language: tag.split('-')[0], quality: Number(quality) }
  })
  const known = ranges.filter(({ language }) => language === 'de' || language === 'en')
  return known.toSorted((a, b) => b.quality - a.quality)[0]?.language === 'de' ? german : english
}

export type { SetupWords }
