import { languageOf, type Language } from './languages'

/** stored is where a browser keeps what a person has chosen, the language among it. */
export const stored = 'hostler.preferences'

function before(): unknown {
  try {
    return (JSON.parse(localStorage.getItem(stored) ?? '{}') as { language?: unknown }).language
  } catch {
    return '' // storage is off, or holds what another version wrote
  }
}

let language = $state.raw(languageOf(before()))

/** spoken has the language of the words that are shown. It changes when the words of another one are there: speak brings them. */
export const spoken = {
  get language(): Language {
    return language
  },
  set language(next: Language) {
    language = next
  },
}
