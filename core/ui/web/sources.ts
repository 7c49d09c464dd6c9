// Writes ../dist/SOURCES: the SHA-256 of every file that dist is built of. A Go test holds it against the files, so that a forgotten
// build fails where there is no JavaScript tool.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const roots = [
  'console.html',
  'index.html',
  'package.json',
  'package-lock.json',
  'svelte.config.js',
  'tsconfig.json',
  'vite.config.ts',
  'words-of-pages.ts',
  'public',
  'src',
]
const built = (path: string): boolean => !/\.(test|check)\.ts$/.test(path)

const files = roots
  .flatMap((root) =>
    root.includes('.')
      ? [root]
      : readdirSync(root, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name)),
  )
  .filter(built)
  .sort()
const lines = files.map((path) => `${createHash('sha256').update(readFileSync(path)).digest('base64url')}  ${path}\n`)
writeFileSync(`${process.argv[2] ?? '../dist'}/SOURCES`, lines.join(''))
