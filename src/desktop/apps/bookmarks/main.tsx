import { start } from '../../kit/app-root.tsx'
import './bookmarks.css'
import { Bookmarks } from './bookmarks.tsx'

void start(Bookmarks)
