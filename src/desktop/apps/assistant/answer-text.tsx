import { useLayoutEffect, useRef } from 'preact/hooks'
import { blocksOf, Markdown } from '../../kit/markdown.tsx'
import { copy } from '../../kit/clipboard.ts'
import { words } from './words.ts'

function addCopyButtons(container: HTMLElement): void {
  for (const block of container.querySelectorAll('pre')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button quiet copy-code'
    button.textContent = words('copy')
    const text = block.textContent
    button.addEventListener('click', () => void copy(text))
    const wrapper = document.createElement('div')
    wrapper.className = 'code'
    block.replaceWith(wrapper)
    wrapper.append(block, button)
  }
}

/** An answer in Markdown. While it grows, only its last block is rendered again, so that text can be selected. */
export function AnswerText({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const container = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!isGrowing) addCopyButtons(container.current!)
  }, [text, isGrowing])
  return (
    <div ref={container} class="answer-text">
      {isGrowing ? (
        blocksOf(text).map((block, index) => <Markdown key={index} literal text={block} />)
      ) : (
        <Markdown literal text={text} />
      )}
    </div>
  )
}
