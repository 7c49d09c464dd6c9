/** dress adds styles to this document. They are no part of the page's one file of styles, whose document has a stricter policy. */
export function dress(styles: string): void {
  const element = document.createElement('style')
  element.textContent = styles
  document.head.append(element)
}
