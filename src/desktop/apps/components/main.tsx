import { start } from '../../kit/app-root.tsx'
import './components.css'
import { ComponentsApp } from './components-app.tsx'

void start(ComponentsApp)
