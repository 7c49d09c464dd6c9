/** stepLinks moves the focus to the next or previous link in the row headings of a table. The first step goes to the first or last link. */
export function stepLinks(body: HTMLElement | undefined, by: 1 | -1): void {
  const links = [...(body?.querySelectorAll<HTMLElement>('th a') ?? [])]
  const here = links.indexOf(document.activeElement as HTMLElement)
  links[Math.max(0, Math.min(links.length - 1, here < 0 ? (by > 0 ? 0 : links.length - 1) : here + by))]?.focus()
}
