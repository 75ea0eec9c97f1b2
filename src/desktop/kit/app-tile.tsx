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
import { ownSlug } from './app-names.ts'
import { Icon } from './icon.tsx'

const pictures: Record<NonNullable<ReturnType<typeof ownSlug>>, IconNode> = {
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

/** The picture of an app on its tile, where it is from here; an app without one has the first letter of its name. */
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
  const own = app && ownSlug(app)
  const style = { width: `${size}px`, height: `${size}px`, fontSize: `${size * 0.5}px` }
  if (own) {
    return (
      <span class={`tile tile-${own}`} style={style} aria-hidden="true">
        <Icon of={pictures[own]} size={Math.round(size * 0.54)} />
      </span>
    )
  }
  const isHere = /^(data:image\/|\/(?!\/))/.test(app?.icon_url ?? '')
  return (
    <span class="tile tile-other" style={style} aria-hidden="true">
      {isHere ? <img src={app!.icon_url} alt="" width={size} height={size} /> : [...name][0]?.toUpperCase()}
    </span>
  )
}
