/** stepLinks moves the focus to the next or the previous link in the headings of a table's rows; the first step takes the first or last. */
export function stepLinks(body: HTMLElement | undefined, by: 1 | -1): void {
  const links = [...(body?.querySelectorAll<HTMLElement>('th a') ?? [])]
  const here = links.indexOf(document.activeElement as HTMLElement)
  links[Math.max(0, Math.min(links.length - 1, here < 0 ? (by > 0 ? 0 : links.length - 1) : here + by))]?.focus()
}
