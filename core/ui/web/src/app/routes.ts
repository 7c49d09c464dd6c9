// Every path of the page, as the list of operations is for the API.
import type { Component } from 'svelte'
import type { Key } from '../words/words'
import type { IconName } from '../kit/icons'

export interface Route {
  /** A part that begins with a colon is a parameter. */
  path: string
  title: Key
  page: () => Promise<{ default: Component }>
  /** Where it stands in the menu: its icon, and the key that follows g. Without, it is reached by links. */
  menu?: { icon: IconName; key: string }
  /** Shown to those who are not logged in, without the frame. */
  open?: boolean
}

export const routes: Route[] = [
  { path: '/setup', title: 'setup.title', page: () => import('../pages/setup/Setup.svelte'), open: true },
  { path: '/', title: 'guests.title', page: () => import('../pages/guests/Guests.svelte') },
  {
    path: '/guests',
    title: 'guests.title',
    page: () => import('../pages/guests/Guests.svelte'),
    menu: { icon: 'guests', key: 'g' },
  },
  { path: '/guests/:id', title: 'guest.title', page: () => import('../pages/guests/Guest.svelte') },
  { path: '/jobs', title: 'jobs.title', page: () => import('../pages/jobs/Jobs.svelte'), menu: { icon: 'jobs', key: 'j' } },
  { path: '/jobs/:id', title: 'jobs.title', page: () => import('../pages/jobs/Job.svelte') },
  { path: '/account', title: 'account.title', page: () => import('../pages/account/Account.svelte') },
  { path: '/about', title: 'about.title', page: () => import('../pages/about/About.svelte') },
]
