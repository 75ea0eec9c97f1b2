import { start } from '../../kit/app-root.tsx'
import './finance.css'
import { Finance } from './finance.tsx'

void start(Finance)
