// What words-of-pages.ts makes of the files of words: how the texts that are there from the beginning are loaded, in each language.
declare module 'virtual:words' {
  const part: Record<import('./languages').Language, () => Promise<{ default: Record<string, Record<string, string>> }>>
  export default part
}
