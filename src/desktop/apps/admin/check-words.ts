import { catalogue } from '../../kit/language.ts'

const en = {
  'data-directory': 'The data directory can be opened',
  'backup-age': 'There is a recent backup',
  'backup-proven': 'A backup was restored as a test',
  'backup-stream': 'The backup stream is up to date',
  'public-url': 'Users reach the service over an encrypted connection',
  proxy: 'The addresses of clients are known behind a proxy',
  'rate-limits': 'Requests are limited',
  'default-quota': 'No single account can fill the disk',
  'admin-2fa': 'Administrators have a second factor',
  'weak-settings': 'No setting is insecure',
  'file-modes': 'Only the owner can read the data directory',
  'file-owner': 'Everything in it belongs to the user who runs svc',
  'data-location': 'Nobody else can replace the data directory',
  'disk-space': 'There is enough free space on the disk',
  'file-system': 'The data directory is on a local disk',
  clock: 'The clock is right',
  sandbox: 'The assistant can run commands in a sandbox',
  database: 'The database keeps what it acknowledges',
  migrations: 'The database schema matches this version',
  storage: 'The database and the stored contents can be reached',
  'orphaned-blobs': 'Every blob belongs to a file',
  administrator: 'The service has an administrator',
  maintenance: 'Maintenance was not left on',
  assistant: 'The models of the assistant answer',
} as const

const words = catalogue(en, {
  'data-directory': 'Das Datenverzeichnis lässt sich öffnen',
  'backup-age': 'Es gibt eine aktuelle Sicherung',
  'backup-proven': 'Eine Sicherung wurde testweise wiederhergestellt',
  'backup-stream': 'Der Änderungsstrom ist aktuell',
  'public-url': 'Der Dienst ist über eine verschlüsselte Verbindung zu erreichen',
  proxy: 'Die Adressen der Clients sind hinter einem Proxy bekannt',
  'rate-limits': 'Anfragen sind begrenzt',
  'default-quota': 'Kein einzelnes Konto kann die Festplatte füllen',
  'admin-2fa': 'Administratoren verwenden einen zweiten Faktor',
  'weak-settings': 'Keine Einstellung ist unsicher',
  'file-modes': 'Nur der Eigentümer kann das Datenverzeichnis lesen',
  'file-owner': 'Alles darin gehört dem Benutzer, unter dem svc läuft',
  'data-location': 'Niemand sonst kann das Datenverzeichnis austauschen',
  'disk-space': 'Auf der Festplatte ist genügend Speicherplatz frei',
  'file-system': 'Das Datenverzeichnis liegt auf einer lokalen Festplatte',
  clock: 'Die Uhr geht richtig',
  sandbox: 'Der Assistent kann Befehle in einer Sandbox ausführen',
  database: 'Die Datenbank behält, was sie bestätigt',
  migrations: 'Das Datenbankschema entspricht dieser Version',
  storage: 'Datenbank und Dateispeicher sind erreichbar',
  'orphaned-blobs': 'Jeder Blob gehört zu einer Datei',
  administrator: 'Jemand kann den Dienst verwalten',
  maintenance: 'Die Wartung ist nicht versehentlich eingeschaltet geblieben',
  assistant: 'Die Modelle des Assistenten antworten',
})

/** Name of a check; unknown ones of a newer server use its summary. */
export const checkName = (id: string, summary: string): string =>
  Object.hasOwn(en, id) ? words(id as keyof typeof en) : summary
