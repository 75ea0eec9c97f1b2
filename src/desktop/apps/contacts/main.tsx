import { start } from '../../kit/start.tsx'
import './contacts.css'
import { Contacts } from './contacts.tsx'

void start(Contacts)
