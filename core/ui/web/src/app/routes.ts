// Every path of the page, like the list of operations for the API.
import type { Component } from 'svelte'
import type { OperationId } from '../api/operations'
import type { Key } from '../words/words'
import type { IconName } from '../kit/icons'

export interface Route {
  /** A part that begins with a colon is a parameter. */
  path: string
  title: Key
  page: () => Promise<{ default: Component }>
  /** The place in the menu: the icon, and the key that follows g. Pages without it are reached by links. */
  menu?: { icon: IconName; key?: string }
  /**
   * The operation that the user must be allowed to run to see the page. Otherwise it is not in the menu, and its address shows the reason.
   */
  needs?: OperationId
  /** Shown to users who are not logged in, without the frame. */
  open?: boolean
  /** Shown without the frame to users who are logged in. */
  bare?: boolean
}

/** One page for everything about a guest: another part of it is not another page. */
const guest: Route['page'] = () => import('../pages/guests/Guest.svelte')

export const routes: Route[] = [
  { path: '/setup', title: 'setup.title', page: () => import('../pages/setup/Setup.svelte'), open: true },
  { path: '/login/callback/:id', title: 'login.title', page: () => import('../pages/login/Callback.svelte'), open: true },
  {
    path: '/',
    title: 'overview.title',
    page: () => import('../pages/overview/Overview.svelte'),
    menu: { icon: 'overview', key: 'o' },
  },
  {
    path: '/guests',
    title: 'guests.title',
    page: () => import('../pages/guests/Guests.svelte'),
    menu: { icon: 'guests', key: 'g' },
  },
  {
    path: '/guests/new',
    title: 'create.title',
    page: () => import('../pages/create/Create.svelte'),
    needs: 'create_vm',
  },
  { path: '/guests/:id', title: 'guest.title', page: guest },
  { path: '/guests/:id/:part', title: 'guest.title', page: guest },
  {
    path: '/apps',
    title: 'apps.title',
    page: () => import('../pages/apps/Apps.svelte'),
    menu: { icon: 'apps', key: 'a' },
    needs: 'list_apps',
  },
  {
    path: '/apps/adopt',
    title: 'apps.adopt.title',
    page: () => import('../pages/apps/Adopt.svelte'),
    needs: 'list_discovered_apps',
  },
  { path: '/hosts', title: 'hosts.title', page: () => import('../pages/hosts/Hosts.svelte'), menu: { icon: 'hosts', key: 'h' } },
  { path: '/hosts/enrol', title: 'enrol.title', page: () => import('../pages/hosts/enrol/Enrol.svelte') },
  { path: '/hosts/:id', title: 'host.title', page: () => import('../pages/hosts/Host.svelte') },
  { path: '/hosts/:id/nodes/:node', title: 'node.title', page: () => import('../pages/hosts/Node.svelte') },
  {
    path: '/storage',
    title: 'storage.title',
    page: () => import('../pages/storage/Storages.svelte'),
    menu: { icon: 'storage', key: 's' },
  },
  { path: '/storage/:id/:name', title: 'storage.title', page: () => import('../pages/storage/Storage.svelte') },
  {
    path: '/network',
    title: 'networks.title',
    page: () => import('../pages/networks/Networks.svelte'),
    menu: { icon: 'network', key: 'n' },
  },
  { path: '/network/:id/:node', title: 'networks.title', page: () => import('../pages/networks/Network.svelte') },
  {
    path: '/firewall',
    title: 'firewall.title',
    page: () => import('../pages/firewall/Firewall.svelte'),
    menu: { icon: 'firewall', key: 'f' },
  },
  {
    path: '/backups',
    title: 'backups.title',
    page: () => import('../pages/backups/Backups.svelte'),
    menu: { icon: 'backup', key: 'b' },
    needs: 'list_backup_coverage',
  },
  { path: '/jobs', title: 'jobs.title', page: () => import('../pages/jobs/Jobs.svelte'), menu: { icon: 'jobs', key: 'j' } },
  { path: '/jobs/:id', title: 'jobs.title', page: () => import('../pages/jobs/Job.svelte') },
  {
    path: '/catalog',
    title: 'catalog.title',
    page: () => import('../pages/catalog/Catalog.svelte'),
    menu: { icon: 'catalog', key: 'c' },
    needs: 'list_catalog',
  },
  {
    path: '/catalog/:slug',
    title: 'catalog.title',
    page: () => import('../pages/catalog/Entry.svelte'),
    needs: 'get_catalog_entry',
  },
  {
    path: '/catalog/:slug/install',
    title: 'catalog.install',
    page: () => import('../pages/catalog/Install.svelte'),
    needs: 'install_catalog_entry',
  },
  {
    path: '/schedules',
    title: 'schedules.title',
    page: () => import('../pages/schedules/Schedules.svelte'),
    menu: { icon: 'clock' },
    needs: 'list_schedules',
  },
  {
    path: '/alerts',
    title: 'alerts.title',
    page: () => import('../pages/alerts/Alerts.svelte'),
    menu: { icon: 'bell', key: 'e' },
    needs: 'list_alerts',
  },
  {
    path: '/alerts/rules',
    title: 'alerts.rules',
    page: () => import('../pages/alerts/rules/Rules.svelte'),
    needs: 'list_alert_rules',
  },
  {
    path: '/alerts/windows',
    title: 'alerts.windows',
    page: () => import('../pages/alerts/windows/Windows.svelte'),
    needs: 'list_maintenance_windows',
  },
  {
    path: '/alerts/channels',
    title: 'alerts.channels',
    page: () => import('../pages/alerts/channels/Channels.svelte'),
    needs: 'list_notification_channels',
  },
  {
    path: '/alerts/deliveries',
    title: 'alerts.deliveries',
    page: () => import('../pages/alerts/channels/Deliveries.svelte'),
    needs: 'list_notification_deliveries',
  },
  { path: '/alerts/:id', title: 'alerts.one', page: () => import('../pages/alerts/Alert.svelte'), needs: 'list_alerts' },
  {
    path: '/audit',
    title: 'audit.title',
    page: () => import('../pages/audit/Audit.svelte'),
    menu: { icon: 'log', key: 'l' },
    needs: 'list_audit',
  },
  {
    path: '/recordings',
    title: 'recordings.title',
    page: () => import('../pages/recordings/Recordings.svelte'),
    needs: 'list_console_recordings',
  },
  {
    path: '/recordings/:id',
    title: 'recordings.title',
    page: () => import('../pages/recordings/Recording.svelte'),
    needs: 'get_console_recording',
  },
  {
    path: '/people',
    title: 'people.title',
    page: () => import('../pages/people/People.svelte'),
    menu: { icon: 'people', key: 'u' },
    needs: 'list_users',
  },
  {
    path: '/settings',
    title: 'settings.title',
    page: () => import('../pages/settings/Settings.svelte'),
    menu: { icon: 'settings' },
    needs: 'list_settings',
  },
  {
    path: '/settings/remote-write',
    title: 'remote.title',
    page: () => import('../pages/settings/RemoteWrite.svelte'),
    needs: 'get_remote_write',
  },
  {
    path: '/settings/providers',
    title: 'providers.title',
    page: () => import('../pages/providers/Providers.svelte'),
    needs: 'list_identity_providers',
  },
  { path: '/update', title: 'update.title', page: () => import('../pages/update/Update.svelte'), needs: 'get_update' },
  { path: '/keys', title: 'apikeys.title', page: () => import('../pages/keys/Keys.svelte') },
  { path: '/console/:kind/:id', title: 'console.title', page: () => import('../pages/console/Window.svelte'), bare: true },
  { path: '/account', title: 'account.title', page: () => import('../pages/account/Account.svelte') },
  { path: '/plugins', title: 'plugins.title', page: () => import('../pages/plugins/Plugins.svelte') },
  { path: '/about', title: 'about.title', page: () => import('../pages/about/About.svelte') },
]
