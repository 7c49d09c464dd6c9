import { expect, test } from 'vitest'
import type { components } from '../../api/schema'
import { guesses } from './guess'

const item = (slug: string, name: string, installable = true): components['schemas']['CatalogItem'] => ({
  slug,
  name,
  installable,
  source: 'scripts',
  entry_type: 'ct',
  category: null,
  categories: [],
  summary: '',
  tags: [],
  created_at: null,
  updated_at: null,
  variant_of: null,
  has_icon: false,
  popularity: null,
})

test('a container is of the entry that is called like it, and of none where several are', () => {
  const guess = guesses([
    item('wiki', 'Wiki.js'),
    item('folder/home-box', 'Home Box'),
    item('one', 'Same'),
    item('two', 'same'),
    item('gone', 'Gone', false),
    item('--', '--'),
  ])
  expect(['WIKI', 'wiki-js', 'homebox', 'Same', 'gone', '', '--', 'other'].map(guess)).toEqual([
    'wiki',
    'wiki',
    'folder/home-box',
    '',
    '',
    '',
    '',
    '',
  ])
})
