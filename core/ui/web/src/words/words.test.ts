import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, type AST } from 'svelte/compiler'
import { expect, test } from 'vitest'
import { lacking } from '../api/problem'
import { packages } from '../pages/about/packages'
import en from './en.json'
import { t, tn } from './words'

const src = join(import.meta.dirname, '..')
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(svelte|ts)$/.test(path) && !/\.test\.ts$|schema\.d\.ts$|operations\.ts$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(src, path), 'utf8') }))

/** What a reader would read or hear. */
const spoken = new Set(['title', 'alt', 'placeholder', 'label', 'aria-label', 'hint', 'text', 'aria-description'])
/** What is the same in every language. */
const names = new Set(['Hostler', 'K'])
const letters = /\p{L}/u

function texts(node: unknown, found: string[]): void {
  if (Array.isArray(node)) return node.forEach((inner) => texts(inner, found))
  if (node === null || typeof node !== 'object') return
  const { type } = node as { type?: string }
  if (type === 'Script' || type === 'StyleSheet' || type === 'Comment') return
  if (type === 'Text' && letters.test((node as AST.Text).data)) found.push((node as AST.Text).data.trim())
  if ((type === 'Attribute' || type === 'StyleDirective') && !spoken.has((node as AST.Attribute).name)) {
    // Only what is computed may hold something to be shown; the text around it is a name for the browser.
    const { value } = node as AST.Attribute
    const parts = value === true ? [] : Array.isArray(value) ? value : [value]
    return texts(
      parts.filter((part) => part.type !== 'Text'),
      found,
    )
  }
  Object.values(node).forEach((inner) => texts(inner, found))
}

test('every text of the page stands in en.json', () => {
  const loose = sources
    .filter(({ path }) => path.endsWith('.svelte'))
    .flatMap(({ path, text }) => {
      const found: string[] = []
      texts(parse(text, { modern: true }).fragment, found)
      return found.filter((one) => !names.has(one)).map((one) => `${path}: ${one}`)
    })
  expect(loose).toEqual([])
})

test('every text is used', () => {
  const all = sources.map(({ text }) => text).join('\n')
  const unused = Object.keys(en).filter((key) => {
    const stem = key.replace(/\.(one|other)$/, '')
    // Of some only the last part is decided when it is shown: theme.${theme}.
    const family = key.slice(0, key.lastIndexOf('.') + 1)
    return !all.includes(`'${key}'`) && !all.includes(`'${stem}'`) && !all.includes(`\`${family}$`)
  })
  expect(unused).toEqual([])
})

test('no text is empty, and values are put in as text', () => {
  expect(Object.entries(en).filter(([, text]) => text.trim() === '')).toEqual([])
  expect(t('role.admin')).toBe('admin')
  expect(t('frame.person', { person: '{person} <b>$&' })).toBe('Account of {person} <b>$&')
  expect(tn('password.keys', 1)).toBe('1 API key is still valid.')
  expect(tn('password.keys', 1200)).toBe('1,200 API keys are still valid.')
  expect(lacking).toBe(true)
})

test('what is bundled is told as it is', () => {
  const own = JSON.parse(readFileSync(join(src, '../package.json'), 'utf8')) as Record<string, Record<string, string>>
  const licences = readFileSync(join(src, '../public/licences.txt'), 'utf8')
  for (const { name, version } of packages) {
    expect(own.dependencies?.[name] ?? own.devDependencies?.[name], name).toBe(version)
    expect(licences).toContain(`${name} ${version}\n\n${readFileSync(join(src, `../node_modules/${name}/LICENSE.md`), 'utf8')}`)
  }
})
