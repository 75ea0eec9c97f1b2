import { catalogue } from '../../kit/language.ts'

export const words = catalogue({ help: 'Help', english: '' }, { help: 'Hilfe', english: 'Nur auf Englisch verfügbar' })

export const topicNames = catalogue(
  {
    'getting-started': 'Getting started',
    synchronisation: 'Synchronising folders',
    'team-chat': 'Team chat',
    assistant: 'Assistant',
    administration: 'Administration',
    'bad-days': 'Bad days',
    security: 'Security',
    'backup-and-restore': 'Backups',
    durability: 'Durability',
    'disk-space': 'Disk space',
    'several-machines': 'Several machines',
    'http-api': 'HTTP API',
    'desktop-apps': 'Apps and components',
    'seed-format': 'Seeds',
    'archive-format': 'Account archives',
    performance: 'Performance',
  },
  {
    'getting-started': 'Erste Schritte',
    synchronisation: 'Ordner synchronisieren',
    'team-chat': 'Team-Chat',
    assistant: 'Assistent',
    administration: 'Administration',
    'bad-days': 'Im Notfall',
    security: 'Sicherheit',
    'backup-and-restore': 'Sicherungen',
    durability: 'Haltbarkeit der Daten',
    'disk-space': 'Speicherplatz',
    'several-machines': 'Mehrere Server',
    'http-api': 'HTTP-API',
    'desktop-apps': 'Apps und Komponenten',
    'seed-format': 'Seed-Dateien',
    'archive-format': 'Kontoarchive',
    performance: 'Leistung',
  },
)
