import {
  Bookmark,
  Bot,
  CalendarDays,
  ChartPie,
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
import { Icon } from '../kit/icon.tsx'
import { appBySlug, isOfPackage } from './apps.ts'
import { appName } from './app-name.ts'

const pictures: Record<string, IconNode> = {
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
  components: Puzzle,
  apps: Grid2x2Plus,
  admin: ShieldUser,
}

/** The picture of an app on its tile; an app without one has the first letter of its name. */
export function AppIcon({ slug, size }: { slug: string; size: number }) {
  const app = appBySlug(slug)
  const picture = app && isOfPackage(app) ? pictures[slug] : undefined
  const style = { width: `${size}px`, height: `${size}px`, fontSize: `${size * 0.5}px` }
  if (picture) {
    return (
      <span class={`tile tile-${slug}`} style={style} aria-hidden="true">
        <Icon of={picture} size={Math.round(size * 0.54)} />
      </span>
    )
  }
  const isHere = /^(data:image\/|\/(?!\/))/.test(app?.icon_url ?? '')
  return (
    <span class="tile tile-other" style={style} aria-hidden="true">
      {isHere ? <img src={app!.icon_url} alt="" width={size} height={size} /> : [...appName(slug)][0]?.toUpperCase()}
    </span>
  )
}
