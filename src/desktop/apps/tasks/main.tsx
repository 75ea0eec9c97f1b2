import { start } from '../../kit/start.tsx'
import './tasks.css'
import { Tasks } from './tasks.tsx'

void start(Tasks)
