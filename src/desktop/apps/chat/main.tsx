import { start } from '../../kit/app-root.tsx'
import './chat.css'
import { Chat } from './chat.tsx'

void start(Chat)
