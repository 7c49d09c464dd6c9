/** dress adds styles to this document. They are not in the page's style file, because the page's document has a stricter policy. */
export function dress(styles: string): void {
  const element = document.createElement('style')
  element.textContent = styles
  document.head.append(element)
}
