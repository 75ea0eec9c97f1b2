import { readableOf, type Topic } from '../../../base/help-topics.ts'

const texts = import.meta.glob<string>('../../../docs/*.md', {
  query: '?raw',
  import: 'default',
})

/** The Markdown of a page without title, comments and images; links to other pages become `#name`. */
export async function pageOf(topic: Topic): Promise<string> {
  const text = await texts[`../../../docs/${topic}.md`]!()
  return readableOf(text, (label, page) => `[${label}](#${page})`).replace(/^# .*\n+/, '')
}
