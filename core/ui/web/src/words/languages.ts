/** languages are those that the page is written in: the words of each are in the file of its name beside this one. */
export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** languageOf is the language that is chosen; where none is, the first of the browser's that the page is written in, else English. */
export function languageOf(chosen: unknown): Language {
  const wanted = [chosen, ...(typeof document === 'undefined' ? [] : navigator.languages)]
  for (const one of wanted) {
    const found = languages.find((language) => language === String(one).toLowerCase().split('-')[0])
    if (found) return found
  }
  return 'en'
}
