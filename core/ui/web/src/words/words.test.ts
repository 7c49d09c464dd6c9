import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, type AST } from 'svelte/compiler'
import { expect, test, vi } from 'vitest'
import { fold, split } from '../../words-of-pages'
import { lacking } from '../api/problem'
import { packages } from '../pages/about/packages'
import de from './de.json'
import en from './en.json'
import { languageOf, languages } from './languages'
import { spoken } from './spoken.svelte'
import { settled, speak, t, take, tn } from './words'

// Reads all sources; the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const src = join(import.meta.dirname, '..')
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(svelte|ts)$/.test(path) && !/\.test\.ts$|schema\.d\.ts$|operations\.ts$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(src, path), 'utf8') }))

/** Attributes that users read or hear. */
const read = new Set(['title', 'alt', 'placeholder', 'label', 'aria-label', 'hint', 'text', 'aria-description'])
/** Names that are the same in every language. */
const names = new Set(['Hostler', 'K'])
const letters = /\p{L}/u

function texts(node: unknown, found: string[]): void {
  if (Array.isArray(node)) return node.forEach((inner) => texts(inner, found))
  if (node === null || typeof node !== 'object') return
  const { type } = node as { type?: string }
  if (type === 'Script' || type === 'StyleSheet' || type === 'Comment') return
  if (type === 'Text' && letters.test((node as AST.Text).data)) found.push((node as AST.Text).data.trim())
  if ((type === 'Attribute' || type === 'StyleDirective') && !read.has((node as AST.Attribute).name)) {
    // Only computed parts may contain shown text; the literal text around them is a name for the browser.
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
    // Some keys are completed only at run time: theme.${theme}.
    const family = key.slice(0, key.lastIndexOf('.') + 1)
    return !all.includes(`'${key}'`) && !all.includes(`'${stem}'`) && !all.includes(`\`${family}$`)
  })
  expect(unused).toEqual([])
})

test('no text is empty, and values are put in as text', async () => {
  expect(Object.entries({ ...en, ...de }).filter(([, text]) => text.trim() === '')).toEqual([])
  expect(t('role.admin')).toBe('admin')
  expect(t('frame.person', { person: '{person} <b>$&' })).toBe('Account of {person} <b>$&')
  // Characters that change the direction of text end with their value. Closing characters without an opening one are not counted.
  const whole = (words: Record<string, string>) => () => Promise.resolve({ default: fold(words) })
  take({ en: whole(en), de: whole(de) })
  await settled(undefined)
  const moved = (node: string): string => t('migrate.from', { node, host: 'demo' })
  expect(moved('\u202eanna')).toBe('Currently on \u202eanna\u202c of demo.')
  expect(moved('\u2067a\u202eb\u2069c\u2069')).toBe('Currently on \u2067a\u202eb\u2069c\u2069 of demo.')
  expect(moved('\u202ea\u2066b\u202c')).toBe('Currently on \u202ea\u2066b\u202c\u2069\u202c of demo.')
  expect(moved('\u202aa\u202c')).toBe('Currently on \u202aa\u202c of demo.')
  expect(tn('log.new', 1)).toBe('1 new line')
  expect(tn('log.new', 1200)).toBe('1,200 new lines')
  expect(lacking).toBe(true)
})

/** Texts that are the same in German: names, and words that both languages have. */
const same = new Set(
  (
    'A|App|Apps|BIOS|Bonds|Bridge|Bridges|CPU|Cluster|Code|Container|DHCP|Definition|Deutsch|EFI|English|Esc|Firewall|Firmware|Gateway|' +
    'Hardware|Host|Hosts|Hypervisor|Kernel|Linux|Linux 2.4|Log|MAC|MTU|NUMA|Name|Ping|Plugins|Port|Ports|Quorum|SHA-256|SSH|Server|' +
    'Solaris|Status|Swap|Swap in MiB|System|Tags|Team|Teams|Terminal|Text|Tokens|Update|Updates|Uploads|VLANs|VM|VMs|Version|' +
    'Website|Windows 2000|Windows 7, Server 2008 R2|Windows 8, Server 2012|Windows Server 2003|Windows Server 2008|' +
    'Windows Vista|Windows XP|in|ok|1 h|24 h|7 d|vm.*|web tag:prod status:running cpu:>80|MTU {mtu}|VLAN {tag}|Version {n}|' +
    'Chat|Discord|Gotify|Matrix|Microsoft Teams|Pushover|Route {n}|STARTTLS|Slack|TLS|Telegram|Token|Webhook|ntfy|{field}|' +
    'Passkeys|Status: {status}|{rate} MB/s|{role} in {team}|{speed}/s|{text} ({name})|{what}: {status}.|' +
    'anna role:admin team:web|web state:stale age:>7d|web-1 action:vm.* result:refused|web-1 by:anna* kind:vm age:<7d|' +
    'web-1 kind:vm.start host:lab|wiki category:media is:installed|wiki status:running update:yes|{who}: {verb}|' +
    'Autostart|Commit|Commit:|Hostler|Hotplug|Issuer|Labels (optional)|NDP|Name (optional)|OK|SHA-256 (optional)|Scopes|Secret|' +
    'Snapshots|Software|Subscription|Swap (MiB)|Tags (optional)|Topic|URL|VMID|VMID (optional)|Version {version}.|offline|online|' +
    '{field} (optional)|{name} (optional)|{n}×'
  ).split('|'),
)

test('German says all that English says', () => {
  const [german, english]: Record<string, string>[] = [de, en]
  // Compare keys, so that the author of a new English text sees what is missing.
  expect(Object.keys(english!).filter((key) => !(key in german!))).toEqual([])
  expect(Object.keys(german!).filter((key) => !(key in english!))).toEqual([])
  const values = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort()
  for (const [key, text] of Object.entries(german!)) expect(values(text), key).toEqual(values(english![key] ?? ''))
  expect(Object.entries(german!).filter(([key, text]) => text === english![key] && !same.has(text))).toEqual([])
})

test('German is plain', () => {
  for (const [key, text] of Object.entries(de)) {
    expect(text, key).not.toMatch(/\bbitte\b|!$|\p{Extended_Pictographic}|\b(you|the|is(?!:)|not)\b/iu)
    // The longest word that fits on the narrowest screens.
    for (const word of text.split(/[\s/-]+/)) expect(word.length, `${key}: ${word}`).toBeLessThanOrEqual(30)
  }
})

test('the language is the chosen one, and changes while the page is shown', async () => {
  expect([languageOf('de'), languageOf('de-CH'), languageOf('fr'), languageOf(''), languageOf(undefined)]).toEqual([
    'de',
    'de',
    'en',
    'en',
    'en',
  ])
  // If two languages are requested at once, the last one wins.
  await Promise.all([speak('de'), speak('en')])
  expect(spoken.language).toBe('en')
  expect(t('close')).toBe('Close')
  await speak('de')
  expect([spoken.language, t('close'), tn('log.new', 1), tn('log.new', 1200)]).toEqual([
    'de',
    'Schließen',
    '1 neue Zeile',
    '1.200 neue Zeilen',
  ])
  // Parts that load from now on are German, and English again when that is chosen.
  const part = (text: string) => () => Promise.resolve({ default: { about: { what: text } } })
  take({ en: part('English'), de: part('Deutsch') })
  await settled(undefined)
  expect(t('about.what')).toBe('Deutsch')
  await speak('en')
  expect([t('about.what'), t('close')]).toEqual(['English', 'Close'])
  // If the texts cannot be loaded, the page stays as it is.
  take({ en: part('English'), de: () => Promise.reject(new Error('gone')) })
  await settled(undefined)
  await expect(speak('de')).rejects.toThrow('gone')
  expect([spoken.language, t('close')]).toEqual(['en', 'Close'])
})

test('each language has the same parts, and all texts are in one of them', () => {
  const parts = languages.map((language) => split(language))
  for (const part of parts) expect([...part.keys()]).toEqual([...parts[0]!.keys()])
  for (const part of parts)
    expect([...part.values()].reduce((n, own) => n + Object.keys(own).length, 0)).toBe(Object.keys(en).length)
})

test('what is bundled is told as it is', () => {
  const own = JSON.parse(readFileSync(join(src, '../package.json'), 'utf8')) as Record<string, Record<string, string>>
  const flat = (text: string): string => text.replace(/\s+/g, ' ').trim()
  const whole = readFileSync(join(src, '../public/licences.txt'), 'utf8')
  // The notice that several packages share is there once.
  const [licences, notice] = whole.split('\nMIT permission notice\n').map(flat)
  const shared = 'The MIT permission notice at the end of this file applies.'
  for (const { name, version } of packages) {
    expect(own.dependencies?.[name] ?? own.devDependencies?.[name], name).toBe(version)
    const folder = join(src, '../node_modules', name)
    const file = readdirSync(folder).find((one) => /^LICENSE/.test(one))!
    const text = flat(readFileSync(join(folder, file), 'utf8')).replace(notice!, shared)
    expect(licences).toContain(`${name} ${version} ${text}`)
  }
})
