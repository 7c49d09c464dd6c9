// The words of the page travel with the code that says them: what the frame says is loaded at the beginning, what one folder of pages alone
// says with the chunks of that folder, and what several say with the first of them. All of them stand in one file per language all the same,
// and of these only those of the language that is spoken are loaded.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Plugin } from 'vite'
import { languages, type Language } from './src/words/languages.ts'

const all = 'virtual:words'
const source = join(import.meta.dirname, 'src')
const words = JSON.stringify(join(source, 'words/words.ts'))
/** The words that are there from the beginning, and those that several folders of pages say. */
const start = 'start'
const shared = 'shared'

/** framed are the files that the page cannot do without: they are there from the beginning, and their words with them. */
const framed = new Set<string>()
frame(join(source, 'main.ts'))

function frame(file: string): void {
  framed.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/^(?!\s*import type)[^'\n]*\bfrom '(\.[^']+)'/gm)) {
    const found = [resolve(dirname(file), path!), `${resolve(dirname(file), path!)}.ts`].find(
      (one) => /\.(svelte|ts)$/.test(one) && existsSync(one),
    )
    if (found && !framed.has(found)) frame(found)
  }
}

/** partOf is where the words of a file are: with its folder of pages, or else where all that share them find them. */
function partOf(file: string): string {
  const [first, second] = relative(source, file).split('/')
  return framed.has(file) ? start : first === 'pages' ? second! : shared
}

/** speaks reports whether a file may say something. The document of consoles has no words. */
const speaks = (file: string): boolean => /\.(svelte|ts)$/.test(file) && !/\.test\.ts$|\/src\/(console|words)\//.test(file)

const read = (language: Language): Record<string, string> =>
  JSON.parse(readFileSync(join(source, `words/${language}.json`), 'utf8')) as Record<string, string>

/** split gives the words of a language by the parts that they are loaded with. What is not translated yet is English. */
export function split(language: Language): Map<string, Record<string, string>> {
  const own = { ...read('en'), ...read(language) }
  const saidBy = new Map<string, Set<string>>()
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !speaks(file)) continue
    // A whole name, the stem of a plural, or, with a star, what stands before the part that changes.
    for (const [, name, end] of readFileSync(file, 'utf8').matchAll(/['"`]([a-z][\w.-]*)(['"`]|\$\{)/g)) {
      const said = end === '${' || name!.endsWith('.') ? `${name}*` : name!
      saidBy.set(said, (saidBy.get(said) ?? new Set()).add(partOf(file)))
    }
  }
  const parts = new Map<string, Record<string, string>>([[start, {}]])
  for (const [key, text] of Object.entries(own)) {
    const stem = key.replace(/\.(one|other)$/, '')
    const by = new Set([...(saidBy.get(key) ?? []), ...(saidBy.get(stem) ?? [])])
    for (let end = 1; end < key.length; end++) for (const part of saidBy.get(`${key.slice(0, end)}*`) ?? []) by.add(part)
    const name = by.size === 0 || by.has(start) ? start : by.size === 1 ? [...by][0]! : shared
    const part = parts.get(name) ?? {}
    part[key] = text
    parts.set(name, part)
  }
  return parts
}

/** fold puts words together whose names begin alike, so that the beginning stands once: words.ts unfolds them. */
export function fold(words: Record<string, string>): Record<string, Record<string, string>> {
  const folded: Record<string, Record<string, string>> = {}
  for (const [key, text] of Object.entries(words)) {
    const [head = '', ...tail] = key.split('.')
    ;(folded[head] ??= {})[tail.join('.')] = text
  }
  return folded
}

/** loads is the code of what loads the words of a part, in each language. */
const loads = (part: string): string =>
  `({ ${languages.map((language) => `${language}: () => import(${JSON.stringify(`${all}/${language}/${part}`)})`).join(', ')} })`

/** chunkName is the name of the file that a module's chunk is in: words are told from code by it, and one language from another. */
export function chunkName(module: string | null | undefined): string {
  const [, language, part] = new RegExp(`^\0${all}/(\\w+)/([\\w-]+)$`).exec(module ?? '') ?? []
  return language ? `assets/words-${language}-${part}-[hash].js` : 'assets/[name]-[hash].js'
}

export function wordsOfPages(): Plugin {
  const splitAll = (): Map<Language, Map<string, Record<string, string>>> =>
    new Map(languages.map((language) => [language, split(language)]))
  let parts = splitAll()
  return {
    name: 'words-of-pages',
    buildStart() {
      parts = splitAll()
      for (const language of languages) this.addWatchFile(join(source, `words/${language}.json`))
    },
    resolveId: (id) => (id === all || id.startsWith(`${all}/`) ? `\0${id}` : undefined),
    load(id) {
      if (id === `\0${all}`) return `export default ${loads(start)}`
      if (!id.startsWith(`\0${all}/`)) return undefined
      const [name, part] = id.slice(all.length + 2).split('/') as [string, string | undefined]
      if (part === undefined) return `import { take } from ${words}\ntake${loads(name)}`
      return `export default ${JSON.stringify(fold(parts.get(name as Language)?.get(part) ?? {}))}`
    },
    transform(code, id) {
      if (!id.startsWith(source) || !speaks(id)) return undefined
      let head = ''
      // A part of the page is shown when its words are there.
      const waits = code.replaceAll(/\bimport\((['"`])([^'"`]+\.svelte)\1\)/g, 'import($1$2$1).then(wordsSettled)')
      if (waits !== code) head += `import { settled as wordsSettled } from ${words};`
      if (!framed.has(id))
        for (const part of new Set([partOf(id), shared]))
          if (parts.get('en')?.has(part)) head += `import ${JSON.stringify(`${all}/${part}`)};`
      return head ? { code: head + waits, map: null } : undefined
    },
  }
}
