import { start } from '../../kit/start.tsx'
import './components.css'
import { Studio } from './studio.tsx'

void start(Studio)
