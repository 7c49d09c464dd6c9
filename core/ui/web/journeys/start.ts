// What journeys stand on: a real service with its own database, the simulator, and a browser that watches what the page does wrong.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect, onTestFailed } from 'vitest'
import { chromium as executablePath } from '../chromium.ts'
import { findings } from './findings'

const root = resolve(import.meta.dirname, '../../../..')
const bin = process.env.HOSTLER_BIN ?? join(root, 'bin')

export const owner = { email: 'anna@example.com', password: 'seven-yellow-donkeys' }

/** limit bounds what hangs, in milliseconds; the machine may be busy. */
export const limit = 60_000

/** alone says that nothing else runs, so that times are the page's: HOSTLER_SECONDS asks for it. */
export const alone = Boolean(process.env.HOSTLER_SECONDS)

/** until waits for a condition, three minutes unless it says otherwise. */
export async function until<T>(
  what: string,
  found: () => Promise<T | undefined | false> | T | undefined | false,
  most = 3 * limit,
): Promise<T> {
  const end = Date.now() + most
  for (;;) {
    const value = await found()
    if (value) return value
    if (Date.now() > end) throw new Error(`${what}: not in ${most / 1000} s`)
    await new Promise((go) => setTimeout(go, 100))
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((go) => server.listen(0, '127.0.0.1', go))
  const { port } = server.address() as AddressInfo
  await new Promise((go) => server.close(go))
  return port
}

function start(name: string, args: string[]): { child: ChildProcess; said: () => string; stop: () => Promise<void> } {
  const child = spawn(join(bin, name), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout?.on('data', (text: Buffer) => (said += text))
  child.stderr?.on('data', (text: Buffer) => (said += text))
  const ended = new Promise<void>((go) => child.once('exit', () => go()))
  return {
    child,
    said: () => said,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Answer is what the API said. */
interface Answer<T> {
  status: number
  body: T
}

/** Caller speaks to the API beside the page, as one user. */
export class Caller {
  private cookie = ''
  constructor(private url: string) {}

  async send<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const headers: Record<string, string> = { Cookie: this.cookie }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const response = await fetch(this.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)
    if (cookies.length) this.cookie = cookies.join('; ')
    const text = await response.text()
    return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T }
  }

  async must<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.send<T>(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  async logIn(email: string, password: string): Promise<this> {
    await this.must('POST', '/api/v1/auth/login', { email, password })
    return this
  }
}

export interface Service {
  url: string
  /** The token of the first set-up. */
  setupToken: () => string
  /** setUp makes the owner, and yields the API as the owner sees it. */
  setUp: () => Promise<Caller>
  /** pause stops the service; what it yields starts it again, on the same database and at the same address. */
  pause: () => Promise<() => Promise<void>>
  /** leave stops the service and yields its state folder, whose parent is the caller's to remove. */
  leave: () => Promise<string>
  stop: () => Promise<void>
}

/**
 * startService starts a service without an owner, on a database of its own: with a copy of a state folder, or with an empty one. One that is
 * named knows its address, at localhost.
 */
export async function startService(from: string | undefined, named = false): Promise<Service> {
  if (!existsSync(join(bin, 'hostlerd'))) throw new Error(`there is no ${bin}/hostlerd: run make build`)
  const dir = mkdtempSync(join(tmpdir(), 'hostler-journey-'))
  chmodSync(dir, 0o711) // the private PostgreSQL runs under its own user
  const state = join(dir, 'state')
  if (from === undefined) mkdirSync(state, { mode: 0o711 })
  else execFileSync('cp', ['-a', from, state]) // with the owners of its files
  const port = await freePort()
  const url = `http://${named ? 'localhost' : '127.0.0.1'}:${port}`
  const serve = ['serve', '--listen', `127.0.0.1:${port}`, '--state-dir', state, '--plugin-dir', join(bin, 'plugins')]
  if (named) serve.push('--base-url', url)
  const begin = (): ReturnType<typeof start> => start('hostlerd', [...serve, '--allow-loopback-hosts', '--log-level', 'warn'])
  let service = begin()
  const ready = (): Promise<unknown> =>
    until('the service is ready', async () => {
      if (service.child.exitCode !== null) throw new Error(`the service ended: ${service.said()}`)
      return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok
    })
  await ready()
  const setupToken = (): string => readFileSync(join(state, 'setup-token'), 'utf8').trim()
  return {
    url,
    setupToken,
    setUp: async () => {
      const caller = new Caller(url)
      await caller.must('POST', '/api/v1/setup', { setup_token: setupToken(), ...owner })
      return caller.logIn(owner.email, owner.password)
    },
    pause: async () => {
      await service.stop()
      return async () => {
        service = begin()
        await ready()
      }
    },
    leave: async () => {
      await service.stop()
      return state
    },
    stop: async () => {
      await service.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

interface Ready {
  url: string
  fingerprint: string
  control: string
  tokens: Record<string, { id: string; secret: string }>
}

export interface Simulator {
  /** ready is where it is, what its certificate is, and the tokens that the script would have made. */
  ready: Ready
  /** control changes something behind the service's back. */
  control: <T>(path: string, body?: Record<string, unknown>) => Promise<T>
  /** order changes a guest. */
  order: (guest: Record<string, unknown>) => Promise<void>
  /** cut ends every connection without an answer, as a dead host does, until mend. */
  cut: () => Promise<void>
  mend: () => Promise<void>
  stop: () => Promise<void>
}

/** startSimulator starts a simulated cluster that nobody has enrolled. */
export async function startSimulator({ nodes = 3, guests = 24, latency = '', loopbacks = false } = {}): Promise<Simulator> {
  // With loopbacks each node has an address of its own, by which the others tell of it.
  const more = [...(latency ? ['--latency', latency] : []), ...(loopbacks ? ['--loopbacks'] : [])]
  const scenario = ['--scenario', 'cluster', '--nodes', String(nodes), '--guests', String(guests), '--recommended']
  const sim = start('pvesim', ['--listen', '127.0.0.1:0', ...scenario, ...more])
  const ready = await until('the simulator is ready', () => {
    const line = sim.said().split('\n')[0]
    return line && sim.said().includes('\n') ? (JSON.parse(line) as Ready) : undefined
  })
  const control = async <T>(path: string, body?: Record<string, unknown>, method = 'POST'): Promise<T> => {
    const answer = await fetch(ready.control + path, { method, ...(body ? { body: JSON.stringify(body) } : {}) })
    if (!answer.ok) throw new Error(`the simulator: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  return {
    ready,
    control,
    order: async (guest) => void (await control('/guest', guest)),
    cut: async () => void (await control('/fault', { kind: 'cut' })),
    mend: async () => void (await control('/fault', undefined, 'DELETE')),
    stop: sim.stop,
  }
}

/** startCluster starts a simulated cluster and enrols it with all its tokens; it is there once its guests have been seen. */
export async function startCluster(caller: Caller, size: Parameters<typeof startSimulator>[0] = {}): Promise<Simulator> {
  const sim = await startSimulator(size)
  const { ready } = sim
  const token = (capability: string): { token_id: string; token_secret: string } => {
    const { id, secret } = ready.tokens[capability]!
    return { token_id: id, token_secret: secret }
  }
  const host = await caller.must<{ id: number }>('POST', '/api/v1/hosts', {
    name: 'demo',
    address: ready.url,
    tls_fingerprint: ready.fingerprint,
    ...token('monitoring'),
  })
  for (const capability of ['lifecycle', 'console', 'backup', 'node_power']) {
    await caller.must('POST', `/api/v1/hosts/${host.id}/credentials`, { capability, ...token(capability) })
  }
  await caller.must('POST', `/api/v1/hosts/${host.id}/sync`)
  return sim
}

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** Visitor is a browser of one person. What the page does wrong is kept until it is asked for. */
export class Visitor {
  private wrong: string[] = []
  /** Answers that the journey provokes: a browser tells its console of each. */
  private expected: number[] = [401]
  private broken = false

  private constructor(
    readonly page: Page,
    readonly url: string,
  ) {
    page.on('console', (message) => {
      const answered = message.text().startsWith('Failed to load resource: the server responded with a status of')
      // An answer that comes after its component was closed is compared with what was asked for last, and dropped.
      const late = message.text().endsWith('/e/derived_inert')
      const cut = this.broken && /net::ERR_|Failed to fetch|EventSource|^WebSocket connection to/.test(message.text())
      if ((message.type() === 'error' || message.type() === 'warning') && !answered && !late && !cut)
        this.wrong.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => this.wrong.push(`error: ${error.message}`))
    page.on('response', (response) => {
      const ready = response.url().endsWith('/api/v1/setup') && response.status() === 409 // so it says that it has an owner
      if (response.status() >= 400 && !ready && !this.expected.includes(response.status())) {
        this.wrong.push(`answer: ${response.status()} ${response.request().method()} ${response.url()}`)
      }
    })
    page.on('request', (request) => {
      const from = new URL(request.url())
      if (!['data:', 'blob:'].includes(from.protocol) && from.origin !== url) this.wrong.push(`request: ${request.url()}`)
    })
  }

  static async arrive(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, timezoneId: 'Europe/Berlin', ...options })
    context.setDefaultTimeout(limit)
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`)
      })
    })
    const visitor = new Visitor(await context.newPage(), url)
    onTestFailed(async ({ task }) => {
      await visitor.picture(`failed-${task.name.replaceAll(/\W+/g, '-')}`)
      console.log(`${task.name}: at ${visitor.page.url()}`, visitor.wrong)
    })
    return visitor
  }

  /** provokes says which statuses the journey brings about on purpose. */
  provokes(...statuses: number[]): void {
    this.expected.push(...statuses)
  }

  /** cuts says that the journey breaks connections on purpose: a browser tells its console of each. */
  cuts(): void {
    this.broken = true
  }

  async open(path: string): Promise<void> {
    await this.page.goto(this.url + path)
  }

  /** step goes to another path of the page that is open, as the browser's own steps do: it loads nothing that is there already. */
  async step(path: string): Promise<void> {
    await this.page.evaluate((to) => {
      history.pushState(null, '', to)
      dispatchEvent(new PopStateEvent('popstate'))
      // What is shown then is the new page, or what stands while it loads.
      return new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))
    }, path)
  }

  async logIn({ email, password } = owner): Promise<void> {
    // In whatever language.
    await this.page.locator('input[name=username]').fill(email)
    await this.page.locator('input[name=password]').fill(password)
    await this.page.locator('form button[type=submit]').click()
    await this.page.getByRole('banner').waitFor()
  }

  /** accessible holds what is shown against WCAG 2.2 AA; or only its colours, where the rest has been looked at in others. */
  async accessible(what: string, colours = false): Promise<void> {
    // What is sticky would lie over controls that one scrolls to: the window is as high as the page.
    await this.page.evaluate(() => scrollTo(0, 0))
    const size = this.page.viewportSize()!
    const height = await this.page.evaluate(() => document.documentElement.scrollHeight)
    if (height > size.height) await this.page.setViewportSize({ ...size, height: Math.min(height, 12_000) })
    // What is shown may still be changing when it is looked at first.
    await expect.poll(() => findings(this.page, colours), { message: what, timeout: limit }).toEqual([])
    await this.page.setViewportSize(size)
  }

  /** picture writes what is shown where a reader can look at it, when HOSTLER_PICTURES names a folder. */
  async picture(name: string): Promise<void> {
    const folder = process.env.HOSTLER_PICTURES
    if (!folder) return
    mkdirSync(folder, { recursive: true })
    await this.page.evaluate(() => scrollTo(0, 0)) // what is sticky would be in the middle
    await this.page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  }

  /** fits holds that the page is not wider than its window, and nothing on it wider than its card. */
  async fits(what: string): Promise<void> {
    const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(wide, `${what}: pixels that stick out`).toBeLessThanOrEqual(0)
    const cards = await this.page.evaluate(() =>
      [...document.querySelectorAll('.card')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => one.textContent),
    )
    expect(cards, `${what}: cards whose content sticks out`).toEqual([])
  }

  /** reached holds that controls are large enough for a finger: what is ticked has its label, and links stand in lines of text. */
  async reached(what: string): Promise<void> {
    const small = await this.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('button, select, summary, textarea, input:not([type=checkbox], [type=radio])')]
        .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !one.closest('.hidden'))
        .map((one) => ({ one, box: one.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 1 && (box.width < 24 || box.height < 24))
        .map(({ one, box }) => `${one.outerHTML.slice(0, 120)}: ${box.width} x ${box.height}`),
    )
    expect(small, `${what}: too small`).toEqual([])
  }

  /** leave ends the visit: with accessibility, unless the document is made by a library, and with nothing that went wrong. */
  async leave({ ofLibrary = false } = {}): Promise<void> {
    if (!ofLibrary) await this.accessible('at the end')
    expect(this.wrong).toEqual([])
    // What is still asked for has nobody to show it to.
    await this.page.unrouteAll({ behavior: 'ignoreErrors' })
    await this.page.context().close()
  }
}
