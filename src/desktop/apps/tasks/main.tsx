import { start } from '../../kit/app-root.tsx'
import './tasks.css'
import { Tasks } from './tasks.tsx'

void start(Tasks)
