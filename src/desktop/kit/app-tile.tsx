import {
  Bookmark,
  Bot,
  CalendarDays,
  ChartPie,
  CircleQuestionMark,
  ContactRound,
  FileText,
  Folder,
  Grid2x2Plus,
  type IconNode,
  ListTodo,
  MapPin,
  MessagesSquare,
  Puzzle,
  Settings,
  ShieldUser,
  StickyNote,
} from 'lucide'
import { builtInSlug } from './app-names.ts'
import { Icon } from './icon.tsx'

const icons: Record<NonNullable<ReturnType<typeof builtInSlug>>, IconNode> = {
  files: Folder,
  chat: MessagesSquare,
  assistant: Bot,
  notes: StickyNote,
  docs: FileText,
  finance: ChartPie,
  places: MapPin,
  tasks: ListTodo,
  calendar: CalendarDays,
  contacts: ContactRound,
  bookmarks: Bookmark,
  settings: Settings,
  help: CircleQuestionMark,
  components: Puzzle,
  apps: Grid2x2Plus,
  admin: ShieldUser,
}

/** The icon of an app: its picture if it is same-origin, otherwise the first letter of its name. */
export function AppTile({
  app,
  name,
  size,
}: {
  app: { slug: string; is_system: boolean; app_path: string; icon_url: string } | undefined
  name: string
  /** Pixels. */
  size: number
}) {
  const builtIn = app && builtInSlug(app)
  const style = { width: `${size}px`, height: `${size}px`, fontSize: `${size * 0.5}px` }
  if (builtIn) {
    return (
      <span class={`tile tile-${builtIn}`} style={style} aria-hidden="true">
        <Icon of={icons[builtIn]} size={Math.round(size * 0.54)} />
      </span>
    )
  }
  const isLocal = /^(data:image\/|\/(?!\/))/.test(app?.icon_url ?? '')
  return (
    <span class="tile tile-other" style={style} aria-hidden="true">
      {isLocal ? <img src={app!.icon_url} alt="" width={size} height={size} /> : [...name][0]?.toUpperCase()}
    </span>
  )
}
