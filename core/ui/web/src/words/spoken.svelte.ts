import { languageOf, type Language } from './languages'

/** stored is the key under which a browser keeps the user's preferences, including the language. */
export const stored = 'hostler.preferences'

function before(): unknown {
  try {
    return (JSON.parse(localStorage.getItem(stored) ?? '{}') as { language?: unknown }).language
  } catch {
    return '' // storage is off, or contains a value of another version
  }
}

let language = $state.raw(languageOf(before()))

/** spoken has the language of the shown texts. It changes when the texts of another language are loaded (speak). */
export const spoken = {
  get language(): Language {
    return language
  },
  set language(next: Language) {
    language = next
  },
}
