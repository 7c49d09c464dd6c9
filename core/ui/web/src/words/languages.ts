/** languages are the languages of the page. The texts of each are in the file with its name in this folder. */
export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** languageOf returns the chosen language; if none is chosen, the first supported language of the browser, otherwise English. */
export function languageOf(chosen: unknown): Language {
  const wanted = [chosen, ...(typeof document === 'undefined' ? [] : navigator.languages)]
  for (const one of wanted) {
    const found = languages.find((language) => language === String(one).toLowerCase().split('-')[0])
    if (found) return found
  }
  return 'en'
}
