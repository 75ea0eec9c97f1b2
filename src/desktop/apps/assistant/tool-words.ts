import { catalogue } from '../../kit/language.ts'
import type { ToolUse } from './turns.ts'

const english = {
  list_files: 'List folder',
  read_file: 'Read file',
  search: 'Search everything',
  search_files: 'Search files',
  write_file: 'Write file',
  replace_file: 'Replace file',
  make_folder: 'Create folder',
  move_file: 'Move',
  copy_file: 'Copy',
  delete_file: 'Move to trash',
  query_rows: 'Look up',
  insert_row: 'Add',
  update_row: 'Change',
  search_messages: 'Search messages',
  fetch_url: 'Fetch page',
  run_command: 'Run command',
  open_app: 'Open app',
  set_wallpaper: 'Change wallpaper',
  refresh_apps: 'Refresh dock',
  reload_app: 'Reload app',
  save_component: 'Save component',
}

const names = catalogue(english, {
  list_files: 'Ordner auflisten',
  read_file: 'Datei lesen',
  search: 'Alles durchsuchen',
  search_files: 'Dateien suchen',
  write_file: 'Datei schreiben',
  replace_file: 'Datei ersetzen',
  make_folder: 'Ordner erstellen',
  move_file: 'Verschieben',
  copy_file: 'Kopieren',
  delete_file: 'In den Papierkorb verschieben',
  query_rows: 'Nachschlagen',
  insert_row: 'Hinzufügen',
  update_row: 'Ändern',
  search_messages: 'Nachrichten suchen',
  fetch_url: 'Seite abrufen',
  run_command: 'Befehl ausführen',
  open_app: 'App öffnen',
  set_wallpaper: 'Hintergrundbild ändern',
  refresh_apps: 'Dock aktualisieren',
  reload_app: 'App neu laden',
  save_component: 'Komponente speichern',
})

/** Name of a tool; unknown ones of a newer server are shown as they are. */
export const toolName = (name: string): string =>
  Object.hasOwn(english, name) ? names(name as keyof typeof english) : name.replaceAll('_', ' ')

/** The object of a tool call: its summary without the name of the tool. */
export function toolObject({ name, summary }: Pick<ToolUse, 'name' | 'summary'>): string {
  const head = name.replaceAll('_', ' ')
  return summary.startsWith(head) ? summary.slice(head.length).trim() : summary
}

export const toolText = (tool: Pick<ToolUse, 'name' | 'summary'>): string =>
  `${toolName(tool.name)} ${toolObject(tool)}`.trim()
