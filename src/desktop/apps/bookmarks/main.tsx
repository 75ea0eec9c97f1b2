import { start } from '../../kit/start.tsx'
import './bookmarks.css'
import { Bookmarks } from './bookmarks.tsx'

void start(Bookmarks)
