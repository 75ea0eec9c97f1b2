import { start } from '../../kit/start.tsx'
import './finance.css'
import { Finance } from './finance.tsx'

void start(Finance)
