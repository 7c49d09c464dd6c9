import { expect, test } from 'vitest'
import { merge } from './merge'
import { understood, type Preferences } from './preferences.svelte'

const chosen = (some: Partial<Preferences>): Preferences => ({ ...understood({}), ...some })
const view = (name: string, address = `/guests?q=${name}`): Preferences['views'][number] => ({ name, address })

test('what was changed here holds, and else what was changed elsewhere', () => {
  const base = chosen({ zone: 'UTC' })
  const mine = chosen({ zone: 'UTC', theme: 'dark' })
  const theirs = chosen({ zone: 'Asia/Tokyo', theme: 'light', font: 20 })
  expect(merge(base, mine, theirs)).toEqual(chosen({ zone: 'Asia/Tokyo', theme: 'dark', font: 20 }))
})

test('views are added and forgotten one by one', () => {
  const base = chosen({ views: [view('a'), view('b'), view('c')] })
  const mine = chosen({ views: [view('b'), view('c'), view('mine')] })
  const theirs = chosen({ views: [view('a'), view('b'), view('theirs')] })
  const names = (all: Preferences): string[] => all.views.map((one) => one.name)
  expect(names(merge(base, mine, theirs))).toEqual(['b', 'theirs', 'mine'])
  // If both have added a view with the same name, the service's wins.
  const both = merge(
    base,
    chosen({ views: [...base.views, view('x', '/here')] }),
    chosen({ views: [...base.views, view('x', '/there')] }),
  )
  expect(both.views.at(-1)).toEqual(view('x', '/there'))
  // A browser that has never contacted the service keeps its own preferences.
  expect(names(merge(chosen({}), chosen({ views: [view('old')] }), theirs))).toEqual(['a', 'b', 'theirs', 'old'])
})
