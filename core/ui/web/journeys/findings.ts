// What axe finds on a page. Contrast is the dearest of its rules by far, and is that of a text's colour and size on the backgrounds below
// it: what has the same of all these was looked at before, on whatever page that was.
import axe from 'axe-core'
import type { Page } from 'playwright-core'

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** looked is what every page so far was found to hold: the colours and sizes of its texts. */
const looked = new Set<string>()

/** findings holds what is shown against WCAG 2.2 AA; or only its colours, where the rest has been looked at in others. */
export async function findings(page: Page, colours: boolean): Promise<string[]> {
  // Not as an initial script: the page would read half a megabyte more each time it is loaded.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const { found, fresh } = await page.evaluate(look, { tags: colours ? [] : tags, known: [...looked] })
  if (!found.length) for (const one of fresh) looked.add(one)
  return found
}

/** look runs in the page. */
async function look({ tags, known }: { tags: string[]; known: string[] }): Promise<{ found: string[]; fresh: string[] }> {
  const { axe } = window as unknown as { axe: typeof import('axe-core') }
  const backgrounds = new Map<Element, string>()
  const background = (one: Element | null): string => {
    if (!one) return ''
    let told = backgrounds.get(one)
    if (told === undefined) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(one)
      const own = backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none' && opacity === '1'
      told = background(one.parentElement) + (own ? '' : `${backgroundColor} ${backgroundImage} ${opacity};`)
      backgrounds.set(one, told)
    }
    return told
  }
  const seen = new Set(known)
  const fresh: string[] = []
  const texts: Element[] = []
  for (const one of document.body.querySelectorAll('*')) {
    const speaks = one instanceof HTMLInputElement || [...one.childNodes].some((node) => node instanceof Text && node.data.trim())
    if (!speaks || !one.checkVisibility({ visibilityProperty: true })) continue
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(one)
    const told = `${color} ${fontSize} ${fontWeight} ${textShadow} on ${background(one)}`
    if (seen.has(told)) continue
    seen.add(told)
    fresh.push(told)
    texts.push(one)
  }
  const found: string[] = []
  const run = async (what: import('axe-core').ElementContext, options: import('axe-core').RunOptions): Promise<void> => {
    // Nothing is told of what holds, and no rule of these wants the styles once more.
    const { violations } = await axe.run(what, { ...options, resultTypes: ['violations'], preload: false })
    for (const v of violations) found.push(`${v.id}: ${v.help}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`)
  }
  const contrast = 'color-contrast'
  if (tags.length) await run(document, { runOnly: { type: 'tag', values: tags }, rules: { [contrast]: { enabled: false } } })
  if (texts.length) await run({ include: texts }, { runOnly: { type: 'rule', values: [contrast] } })
  return { found, fresh }
}
