// The modules that words-of-pages.ts generates from the text files: how the texts of the first load are loaded, in each language.
declare module 'virtual:words' {
  const part: Record<import('./languages').Language, () => Promise<{ default: Record<string, Record<string, string>> }>>
  export default part
}
