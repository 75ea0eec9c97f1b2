import { start } from '../../kit/start.tsx'
import './chat.css'
import { Chat } from './chat.tsx'

void start(Chat)
